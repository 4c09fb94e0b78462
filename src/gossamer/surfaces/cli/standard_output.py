"""Standard output that ends well, whether its reader goes away or it cannot be written. Forms of answers: elsewhere."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import click


class OutputFailed(click.ClickException):
    """Standard output takes no more, for a reason that is not its reader's: exit code 3."""

    exit_code = 3


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """Standard output for octets, flushed at the end. Raises OutputFailed.

    A reader who has gone away has what it wanted: that ends the command, quietly and with success.
    """
    if sys.stdout is None:
        raise click.exceptions.Exit(0)
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _abandon_output()
        raise click.exceptions.Exit(0) from None
    except OSError as fault:
        _abandon_output()
        raise OutputFailed(f"standard output cannot be written: {fault.strerror or fault}") from fault


def _abandon_output() -> None:
    """Point standard output at nothing, or the interpreter would fail again when it flushes at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
