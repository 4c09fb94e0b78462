"""The commands for looking, run on a directory that a crawl left, as a user and as a program see them."""

import csv
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet, types  # type: ignore[import-untyped]
from rich.cells import cell_len
from tests.views.stored_crawl import START, StoredCrawl

from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.adapters.system.lock import DirectoryLock
from gossamer.core.outcome import Denied, Failed, Fetched, Reason, Redirected
from gossamer.core.robots_copy import Body
from gossamer.core.rows import FetchFacts, OutlinkRow
from gossamer.surfaces.cli import exporting, looking, printing, stored
from gossamer.surfaces.cli.looking_prose import page_cells
from gossamer.surfaces.cli.opened import live_status
from gossamer.surfaces.cli.printing import Fit
from gossamer.views.links import LinkView
from gossamer.views.pages import PageView

A, B = "http://a.test/", "http://b.test/"
EVIL = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\n\u202etitle\x9b2J\u2028\x85"
COMMANDS = {command.name: command for command in (*looking.COMMANDS, *stored.COMMANDS)}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stopped crawl: pages of several kinds, one denial, one redirect, things left to do."""
    root = tmp_path_factory.mktemp("data")
    (root / "state").mkdir()
    store = RocksPartitionStore(root / "state" / "db")
    crawl = StoredCrawl(store, root, (A, B))
    crawl.robots("http://a.test", Body(), b"User-agent: *\nDisallow: /private\n")
    links = (OutlinkRow("http://a.test/x", "", "a", "inside"), OutlinkRow("http://z.test/", "", "a", "outside"))
    crawl.fetch(A, "Text of ä.", links, title=EVIL)
    crawl.admit(
        "http://a.test/gone", "http://a.test/moved", "http://a.test/private", "http://a.test/zip", hop=1, parent=A
    )
    crawl.answer("http://a.test/gone", Failed(404), b"no such page")
    crawl.answer("http://a.test/moved", Redirected(301, A))
    crawl.settle("http://a.test/private", Denied(Reason.ROBOTS_DISALLOWED))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Odd:  kept \r\n\r\n"
    key = crawl.append_raw("http://a.test/zip", head, gzip.compress(b"unpacked", mtime=0))
    crawl.settle("http://a.test/zip", Fetched(200), FetchFacts(200, START, 0.1, 99, "text/html", key))
    crawl.parse("http://a.test/zip", "Hidden.", noindex=True)
    crawl.close()
    store.close()
    return root


def words(text: str) -> list[str]:
    return text.split()


def run(data: Path, name: str, *arguments: str) -> Result:
    return CliRunner().invoke(COMMANDS[name], [*arguments, "--data", str(data)], catch_exceptions=False)


def document(data: Path, name: str, *arguments: str) -> Any:
    result = run(data, name, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def lines(data: Path, name: str, *arguments: str) -> list[Any]:
    result = run(data, name, *arguments, "--json")
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


# status ---------------------------------------------------------------------------------------------------------------


def test_status_gives_every_promised_key(data: Path) -> None:
    shown = document(data, "status")
    promised = words(
        "crawlId status fetched failed frontierSize pagesPerSecond discovered duplicates nearDuplicates bytes "
        "robotsDenied states hosts etaSeconds"
    )
    assert set(promised) <= shown.keys()
    assert (shown["crawlId"], shown["fetched"], shown["failed"], shown["robotsDenied"]) == ("c1", 2, 1, 1)
    assert shown["discovered"] == sum(shown["states"].values()) == 7
    assert shown["frontierSize"] == 2
    assert set(shown["hosts"]) == {"busy", "waiting", "parked"}


def test_a_crashed_crawl_is_stopped_and_says_how_to_go_on(data: Path) -> None:
    assert document(data, "status")["status"] == "stopped"
    assert f"gossamer crawl --data {data}" in run(data, "status").stdout


def test_status_of_a_crawl_by_its_id(data: Path) -> None:
    assert document(data, "status", "c1")["crawlId"] == "c1"
    for arguments in (("nope",), ("--crawl", "nope")):
        result = run(data, "status", *arguments)
        assert result.exit_code == 2
        assert "there is: c1" in result.stderr


def test_a_crawl_named_twice_is_a_usage_error(data: Path) -> None:
    result = run(data, "status", "c1", "--crawl", "c1")
    assert result.exit_code == 2
    assert "both given" in result.stderr


def test_octets_have_no_json(data: Path) -> None:
    assert run(data, "raw", A, "--json").exit_code == 2


def test_a_directory_without_a_crawl_is_one_sentence(tmp_path: Path) -> None:
    for name, arguments in (("status", ()), ("pages", ()), ("text", (A,)), ("verify", ()), ("why", (A,))):
        result = run(tmp_path, name, *arguments)
        assert result.exit_code == 2
        assert f"no crawl in {tmp_path}" in result.stderr
        assert result.stdout == ""


@pytest.fixture
def holder(data: Path) -> Iterator[Path]:
    """A process that holds the directory, as far as locks tell."""
    lock = DirectoryLock(data / "state" / "owner.lock")
    yield data / "state" / "control.sock"
    lock.release()


class Answering:
    """Answers one request on a Unix socket."""

    def __init__(self, path: Path, reply: bytes) -> None:
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(str(path))
        self._server.listen()
        self._path = path
        self._reply = reply
        self.asked = b""
        self._thread = threading.Thread(target=self._answer)
        self._thread.start()

    def _answer(self) -> None:
        peer, _ = self._server.accept()
        with peer:
            self.asked = peer.recv(1_000)
            peer.sendall(self._reply)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(5)
        self._server.close()
        self._path.unlink()


def test_a_running_crawl_answers_for_itself(data: Path, holder: Path) -> None:
    live = document(data, "status") | {"fetched": 99, "pagesPerSecond": 7.5}
    with Answering(holder, json.dumps(live).encode() + b"\n") as process:
        shown = document(data, "status")
    assert json.loads(process.asked) == {"do": "status"}
    assert (shown["fetched"], shown["pagesPerSecond"]) == (99, 7.5)


def test_without_an_answer_the_store_is_read_and_the_crawl_is_running(data: Path, holder: Path) -> None:
    assert not holder.exists()
    shown = document(data, "status")
    assert (shown["status"], shown["fetched"]) == ("running", 2)


@pytest.mark.parametrize("reply", [b"", b"rubbish\n", b"[]\n", b'{"error": "no"}\n'])
def test_an_answer_that_is_none_counts_as_none(tmp_path: Path, reply: bytes) -> None:
    path = tmp_path / "s"
    with Answering(path, reply):
        assert live_status(path) is None


def test_a_socket_that_nobody_listens_on_is_none(tmp_path: Path) -> None:
    path = tmp_path / "s"
    assert live_status(path) is None
    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(path))
    left.close()
    assert live_status(path) is None


# pages, hosts ---------------------------------------------------------------------------------------------------------


def test_pages_are_json_lines_with_every_promised_key(data: Path) -> None:
    rows = lines(data, "pages")
    promised = words(
        "url host status outcome fetchedAt hop contentType contentHash simhash verdict duplicateOf rawKey textKey title "
        "language redirectTo reason attempts etag lastModified nextDueAt"
    )
    assert len(rows) == 7
    assert all(list(row) == promised for row in rows)


def test_a_row_is_one_line_for_every_reader(data: Path) -> None:
    shown = run(data, "pages", "--json").stdout
    assert len(shown.splitlines()) == len(shown.split("\n")) - 1 == 7
    assert {row["title"] for row in lines(data, "pages", "--url", A)} == {EVIL}
    assert "\x9b" not in shown


def test_pages_may_be_filtered(data: Path) -> None:
    assert {row["url"] for row in lines(data, "pages", "--host", "B.test")} == {B}
    assert {row["outcome"] for row in lines(data, "pages", "--state", "failed", "--state", "denied")} == {
        "failed",
        "denied",
    }
    assert [row["url"] for row in lines(data, "pages", "--url", "HTTP://A.test:80/#x")] == [A]
    assert lines(data, "pages", "--url", A, "--state", "failed") == []


def test_a_limit_ends_the_list(data: Path) -> None:
    everything = lines(data, "pages")
    assert lines(data, "pages", "--limit", "2") == everything[:2]
    assert lines(data, "pages", "--limit", "0") == []
    assert run(data, "pages", "--limit", "-1").exit_code == 2


def test_people_read_why_and_where_to_and_when(data: Path) -> None:
    shown = run(data, "pages").stdout
    assert shown.split()[:5] == ["STATE", "STATUS", "HOP", "WHEN", "URL"]
    assert f"http://a.test/moved    → {A}" in shown
    assert "2026-01-01 00:00:00Z" in shown
    alone = run(data, "pages", "--url", "http://a.test/moved").stdout.split()
    assert alone[alone.index("state") + 1] == "redirected"


def test_a_reason_comes_before_the_target() -> None:
    view = PageView(
        **dict.fromkeys(PageView.__struct_fields__),  # type: ignore[arg-type]
    )
    view.redirect_to, view.reason = A, "redirect-loop"
    assert page_cells(view)[-1] == f"redirect-loop → {A}"


def test_an_unknown_state_names_the_allowed_ones(data: Path) -> None:
    result = run(data, "pages", "--state", "done")
    assert result.exit_code == 2
    assert "allowed: ready, waiting, captured, fetched, redirected, failed, denied, dead" in result.stderr


def test_an_unknown_url_is_the_answer_no(data: Path) -> None:
    result = run(data, "pages", "--url", "http://a.test/never")
    assert result.exit_code == 1
    assert "never admitted" in result.stderr


@pytest.mark.parametrize("name", ["text", "raw", "why"])
def test_what_is_no_url_is_a_usage_error(data: Path, name: str) -> None:
    result = run(data, name, "ftp://a.test/")
    assert result.exit_code == 2
    assert "scheme-not-supported" in result.stderr


def test_nothing_from_the_web_steers_the_terminal(data: Path) -> None:
    for name, arguments in (("pages", ()), ("pages", ("--url", A)), ("why", (A,))):
        shown = run(data, name, *arguments).stdout
        assert "red" in shown
        assert "title" in shown
        assert all(char == "\n" or char.isprintable() for char in shown)
        assert "owned" not in shown


def test_hosts_give_every_promised_key(data: Path) -> None:
    rows = {row["host"]: row for row in lines(data, "hosts")}
    promised = set(
        words("host site queued fetched failed delaySeconds nextAllowedAt breaker budgetLeft frontLevel robots")
    )
    assert set(rows) == {"a.test", "b.test"}
    assert all(promised <= row.keys() for row in rows.values())
    assert rows["a.test"]["robots"].items() >= {"state": "fresh", "fetchedAt": "2026-01-01T00:00:00.000Z"}.items()
    assert rows["a.test"]["origins"].keys() == {"http://a.test"}
    assert [row["host"] for row in lines(data, "hosts", "--host", "http://b.test:80/x")] == ["b.test"]
    assert run(data, "hosts").stdout.splitlines()[1].startswith("a.test")


# text, raw ------------------------------------------------------------------------------------------------------------


def test_text_is_the_stored_octets(data: Path) -> None:
    assert run(data, "text", "a.test").stdout_bytes == "Text of ä.".encode()


def test_raw_takes_codings_off_unless_told_otherwise(data: Path) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Odd:  kept \r\n\r\n"
    packed = gzip.compress(b"unpacked", mtime=0)
    assert run(data, "raw", "http://a.test/zip").stdout_bytes == b"unpacked"
    assert run(data, "raw", "http://a.test/zip", "--headers").stdout_bytes == head + b"unpacked"
    assert run(data, "raw", "http://a.test/zip", "--as-received").stdout_bytes == packed


def test_the_body_of_an_error_page_is_kept_too(data: Path) -> None:
    assert run(data, "raw", "http://a.test/gone").stdout_bytes == b"no such page"


@pytest.mark.parametrize(
    ("name", "url", "because"),
    [
        ("text", "http://a.test/gone", "failed: status 404"),
        ("text", "http://a.test/moved", "redirected to http://a.test/"),
        ("raw", "http://a.test/private", "denied: robots-disallowed"),
        ("raw", B, "ready, but not fetched yet"),
        ("text", "http://a.test/nowhere", "never admitted"),
    ],
)
def test_what_is_not_stored_says_its_state(data: Path, name: str, url: str, because: str) -> None:
    result = run(data, name, url)
    assert (result.exit_code, result.stdout) == (1, "")
    assert because in result.stderr


# why ------------------------------------------------------------------------------------------------------------------


def test_why_gives_steps_in_order(data: Path) -> None:
    story = document(data, "why", "http://a.test/private")
    assert (story["url"], story["state"]) == ("http://a.test/private", "denied")
    assert all({"what", "decision", "because"} <= step.keys() for step in story["steps"])
    robots = next(step for step in story["steps"] if step["what"] == "robots")
    # The stored copy is from the test's own time and has expired long ago; the rule is still named.
    assert (robots["decision"], robots["line"]) == ("denied", 2)


def test_why_of_a_url_that_was_never_taken(data: Path) -> None:
    story = document(data, "why", "http://z.test/")
    assert story["state"] is None
    found = next(step for step in story["steps"] if step["what"] == "found")
    assert A in found["because"]
    assert "never admitted" in run(data, "why", "http://z.test/").stdout


# verify ---------------------------------------------------------------------------------------------------------------


def test_verify_proves_a_right_crawl(data: Path) -> None:
    view = document(data, "verify")
    assert view["problems"] == []
    assert view["urls"] == sum(view["states"].values()) == 7
    assert "all accounts are right" in run(data, "verify", "--quick").stdout


def test_verify_runs_while_a_process_holds_the_directory(data: Path, holder: Path) -> None:
    assert document(data, "verify")["problems"] == []


def test_damage_is_exit_code_one(data: Path) -> None:
    segment = next((data / "text" / "c1").iterdir())
    whole = segment.read_bytes()
    segment.write_bytes(whole[:-5])
    try:
        result = run(data, "verify", "--json")
        human = run(data, "verify")
    finally:
        segment.write_bytes(whole)
    assert (result.exit_code, human.exit_code) == (1, 1)
    problems = json.loads(result.stdout)["problems"]
    assert any("bytes are committed" in problem for problem in problems)
    assert "problems" in human.stdout


def test_a_segment_that_nobody_committed_is_a_tail(data: Path) -> None:
    stray = data / "warc" / "c1" / "gossamer-c1-20260101000000-00009.warc.gz"
    stray.write_bytes(b"12345")
    try:
        view = document(data, "verify")
    finally:
        stray.unlink()
    assert (view["problems"], view["tailBytes"]) == ([], 5)


# export ---------------------------------------------------------------------------------------------------------------


def exported(data: Path, what: str, target: Path, *arguments: str) -> Result:
    return run(data, "export", what, "--to", str(target), *arguments)


def test_json_lines_are_those_of_pages(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.jsonl"
    assert exported(data, "pages", target).exit_code == 0
    assert [json.loads(line) for line in target.read_text().splitlines()] == lines(data, "pages")
    assert list(tmp_path.iterdir()) == [target]


def test_csv_has_a_header_and_empty_cells(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.CSV"
    assert exported(data, "pages", target).exit_code == 0
    with target.open(newline="", encoding="utf-8") as file:
        rows = {row["url"]: row for row in csv.DictReader(file)}
    assert rows[A]["title"] == EVIL
    assert (rows[A]["status"], rows[B]["status"], rows[B]["title"]) == ("200", "", "")


def test_parquet_has_types(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.parquet"
    assert exported(data, "pages", target).exit_code == 0
    table = parquet.read_table(target)
    assert table.num_rows == 7
    assert types.is_int64(table.schema.field("status").type)
    assert types.is_timestamp(table.schema.field("fetchedAt").type)
    fetched = {row["url"]: row["fetchedAt"] for row in table.to_pylist()}
    assert fetched[A].timestamp() == START
    assert fetched[B] is None


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
@pytest.mark.parametrize(("what", "rows"), [("pages", 7), ("links", 2), ("text", 1)])
def test_every_list_in_every_format(data: Path, tmp_path: Path, what: str, rows: int, suffix: str) -> None:
    result = exported(data, what, tmp_path / f"x.{suffix}", "--json")
    assert json.loads(result.stdout) == {"file": str(tmp_path / f"x.{suffix}"), "rows": rows, "problems": 0}


def test_links_have_their_names(data: Path, tmp_path: Path) -> None:
    exported(data, "links", tmp_path / "links.jsonl")
    first = json.loads((tmp_path / "links.jsonl").read_text().splitlines()[0])
    assert first == {"from": A, "to": "http://a.test/x", "rel": "", "source": "a", "verdict": "inside"}


def test_texts_leave_out_noindex_unless_asked(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "t.jsonl"
    exported(data, "text", target)
    assert [json.loads(line)["text"] for line in target.read_text().splitlines()] == ["Text of ä."]
    exported(data, "text", target, "--include-noindex")
    assert len(target.read_text().splitlines()) == 2


def test_a_missing_text_is_told_and_the_rest_is_written(data: Path, tmp_path: Path) -> None:
    segment = next((data / "text" / "c1").iterdir())
    segment.rename(segment.with_suffix(".away"))
    try:
        result = exported(data, "text", tmp_path / "t.jsonl", "--include-noindex")
    finally:
        segment.with_suffix(".away").rename(segment)
    assert result.exit_code == 1
    assert "can't be read" in result.stderr
    assert (tmp_path / "t.jsonl").read_text() == ""


@pytest.mark.parametrize("name", ["x.xml", "x", "x.jsonl.gz", "missing/x.csv"])
def test_a_target_that_can_not_be_is_a_usage_error(data: Path, tmp_path: Path, name: str) -> None:
    result = exported(data, "pages", tmp_path / name)
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []
    if "missing" not in name:
        assert ".jsonl, .csv, .parquet" in result.stderr


def test_parquet_without_its_library_is_one_sentence(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(exporting, "import_module", absent)
    result = exported(data, "pages", tmp_path / "x.parquet")
    assert result.exit_code == 2
    assert "gossamer[export]" in result.stderr


def test_a_file_is_replaced_only_by_a_complete_one(tmp_path: Path) -> None:
    target = tmp_path / "x.jsonl"
    target.write_text("old")

    def rows() -> Iterator[Any]:
        yield LinkView("a", "b", "", "a", "inside")
        raise OSError(5, "the disk went away")

    with pytest.raises(OSError, match="went away"):
        exporting.export_rows(LinkView, rows(), target, lambda _what, _count: None)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


# Printing -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil/\x07link\x1b]8;;\x07", "link"),
        ("\x9b31mred", "red"),
        ("a\nb\tc\r\nd", "a b c d"),
        ("\x1bcreset", "reset"),
        ("\u202eabc\u2066", "abc"),
        ("nul\0bell\a", "nulbell"),
        ("\x1b", ""),
        ("\x1b[", ""),
        ("über 橋 🌉", "über 橋 🌉"),
        ("\ud800x", "x"),
    ],
)
def test_text_from_the_web_is_cleaned(dirty: str, clean: str) -> None:
    assert printing.printable(dirty) == clean


def test_a_hostile_sequence_costs_no_square() -> None:
    assert printing.printable("\x1b]" * 200_000) == ""
    assert len(printing.printable("\x1b]x" * 100_000)) <= 300_000


def test_tables_fit_a_terminal_and_count_wide_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "is_terminal", lambda: True)
    monkeypatch.setattr(printing, "width", lambda: 60)
    monkeypatch.setenv("NO_COLOR", "1")
    columns = (printing.Column("STATE"), printing.Column("URL", fit=Fit.WHOLE), printing.Column("NOTE", fit=Fit.SHORT))
    rows = [("fetched", "http://a.test/" + "p" * 100 + "/end", "橋" * 50), ("dead", "http://a.test/", "")]
    shown = list(printing.table(columns, rows))
    assert all(cell_len(line) <= 60 for line in shown)
    assert "…" in shown[1]
    assert "/end" in shown[1]
    assert {line.index("http") for line in shown[1:]} == {shown[0].index("URL")}


def test_notes_give_way_before_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "is_terminal", lambda: True)
    monkeypatch.setattr(printing, "width", lambda: 60)
    monkeypatch.setenv("NO_COLOR", "1")
    columns = (printing.Column("STATE"), printing.Column("URL", fit=Fit.WHOLE), printing.Column("NOTE", fit=Fit.SHORT))
    urls = ["http://a.test/", "http://a.test/" + "p" * 26, "http://a.test/" + "p" * 46]
    shown = list(printing.table(columns, [("failed", url, "n" * 60) for url in urls]))
    assert [line.split()[1] for line in shown[1:]] == urls
    assert [cell_len(line) <= 60 for line in shown[1:]] == [True, True, False]
    assert all("…" in line for line in shown[1:])


def test_without_a_terminal_nothing_is_cut() -> None:
    columns = (printing.Column("URL", fit=Fit.WHOLE), printing.Column("NOTE", fit=Fit.SHORT))
    long = "http://a.test/" + "p" * 500
    _, row = printing.table(columns, [(long, "n" * 99)])
    assert row == f"{long}  {'n' * 99}"
