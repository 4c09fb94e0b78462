"""`gossamer pause`, `resume`, `set`, `stop`: through the socket to the process that holds the directory, or here."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.bootstrap import open_installation, set_status, store_options
from gossamer.config_values import NO_LIMIT
from gossamer.stages.opening import Change
from gossamer.surfaces.cli.control_socket import ask, changes_document
from gossamer.surfaces.cli.faults import named_faults
from gossamer.surfaces.cli.options import GroupedOptions, changeable_options, changes_given, data_option
from gossamer.surfaces.cli.printing import write_document


def _act(data: Path, crawl_id: str | None, do: str, status: str) -> tuple[dict[str, Any], bool]:
    """The crawl's status after the command, and whether a process runs it."""
    answer = _ask(data, crawl_id, do)
    if answer is not None:
        return answer, True
    with named_faults(data), open_installation(data) as installation:
        crawl = set_status(installation, crawl_id, status)
    return {"crawlId": crawl.crawl_id, "status": crawl.status}, False


def _ask(data: Path, crawl_id: str | None, do: str, **more: Any) -> dict[str, Any] | None:
    """What the process that runs the crawl answers; None when there is none."""
    directory = DataDirectory(data.absolute())
    if not directory.has_state:
        raise click.UsageError(f"no crawl in {data}")
    answer = ask(directory.socket, do, crawl=crawl_id, **more)
    if answer is not None and crawl_id not in (None, answer.get("crawlId")):
        raise click.UsageError(f"crawl {crawl_id} is not running in {data}; {answer.get('crawlId')} is")
    if answer is not None and "error" in answer:
        raise click.UsageError(answer["error"])
    return answer


_CRAWL = click.argument("crawl", required=False)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


@click.command("pause")
@_CRAWL
@data_option
@_JSON
def pause(crawl: str | None, data: Path, as_json: bool) -> None:  # noqa: FBT001  click passes it by name
    """Let a crawl rest: no new contacts until `gossamer resume`."""
    answer, is_running = _act(data, crawl, "pause", "paused")
    _say(
        answer, as_json=as_json, text=f"crawl {answer['crawlId']} is paused" + ("" if is_running else " (not running)")
    )


@click.command("resume")
@_CRAWL
@data_option
@_JSON
def resume(crawl: str | None, data: Path, as_json: bool) -> None:  # noqa: FBT001  click passes it by name
    """Let a paused crawl go on."""
    answer, is_running = _act(data, crawl, "resume", "stopped")
    text = (
        f"crawl {answer['crawlId']} goes on"
        if is_running
        else f"not paused any more; run: gossamer crawl --data {data}"
    )
    _say(answer, as_json=as_json, text=text)


@click.command("stop")
@_CRAWL
@data_option
@_JSON
def stop(crawl: str | None, data: Path, as_json: bool) -> None:  # noqa: FBT001  click passes it by name
    """End a crawl in an orderly way; `gossamer crawl` goes on with it later."""
    answer, is_running = _act(data, crawl, "stop", "stopped")
    text = f"crawl {answer['crawlId']} " + ("is stopping" if is_running else "is not running")
    _say(answer, as_json=as_json, text=text)


@click.command("set", cls=GroupedOptions)
@_CRAWL
@data_option
@changeable_options
@_JSON
def set_(crawl: str | None, data: Path, as_json: bool, **given: Any) -> None:  # noqa: FBT001  click passes it by name
    """Change delays, budgets and concurrency of a crawl, at once where it runs and for its next runs.

    A longer delay holds from the next contact of every host, a shorter one after contacts that begin from now on. A
    higher budget lets hosts go on that had spent theirs; one below what is spent ends the crawl. Pages under way are
    still kept.
    """
    values = changes_given(given)
    # null would be an option that was not given.
    options = {key: NO_LIMIT if value is None else value for key, value in values.items()}
    answer = _ask(data, crawl, "set", options=options)
    if answer is None:
        with named_faults(data), open_installation(data) as installation:
            answer = changes_document(*store_options(installation, crawl, values), is_running=False)
    _say(answer, as_json=as_json, text="\n".join(_told(answer, data)))


def _told(answer: dict[str, Any], data: Path) -> Iterator[str]:
    changes = [Change(**change) for change in answer["changes"]]
    yield f"crawl {answer['crawlId']}: " + ("changed" if changes else "it is so already")
    for change in changes:
        yield f"  {change.sentence}"
    if not answer["isRunning"]:
        yield f"not running; go on: gossamer crawl --data {shlex.quote(str(data))}"


def _say(answer: dict[str, Any], *, as_json: bool, text: str) -> None:
    if as_json:
        write_document(answer)
    else:
        click.echo(text)


COMMANDS = [pause, resume, set_, stop]
