"""`gossamer pause`, `resume`, `stop`: through the socket to the process that holds the directory, or written here."""

from pathlib import Path
from typing import Any

import click

from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.bootstrap import Installation, open_installation, set_status
from gossamer.surfaces.cli.control_socket import ask
from gossamer.surfaces.cli.faults import named_faults
from gossamer.surfaces.cli.options import data_option
from gossamer.surfaces.cli.printing import write_document


def _act(data: Path, crawl_id: str | None, do: str, status: str) -> tuple[dict[str, Any], bool]:
    """The crawl's status after the command, and whether a process runs it."""
    directory = DataDirectory(data.absolute())
    if not directory.has_state:
        raise click.UsageError(f"no crawl in {data}")
    answer = ask(directory.socket, do)
    if answer is not None:
        if crawl_id not in (None, answer.get("crawlId")):
            raise click.UsageError(f"crawl {crawl_id} is not running in {data}; {answer.get('crawlId')} is")
        return answer, True
    with named_faults(data), open_installation(data) as installation:
        return _write(installation, crawl_id, status), False


def _write(installation: Installation, crawl_id: str | None, status: str) -> dict[str, Any]:
    crawl = set_status(installation, crawl_id, status)
    return {"crawlId": crawl.crawl_id, "status": crawl.status}


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


def _say(answer: dict[str, Any], *, as_json: bool, text: str) -> None:
    if as_json:
        write_document(answer)
    else:
        click.echo(text)


COMMANDS = [pause, resume, stop]
