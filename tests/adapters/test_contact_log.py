"""Every contact is on record before it is made, and the record can be read after any kill."""

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.full_disk import no_file_beyond

from gossamer.adapters.files.contact_log import (
    Author,
    ContactLog,
    ContactLogDamaged,
    contact_logs,
    paired,
    read_contacts,
)
from gossamer.core.contacts import BeginContact, EndContact, RunFacts
from gossamer.core.politeness import DelayRules
from gossamer.core.robots_copy import UnreachableMode
from gossamer.ports.contacts import Contact, ContactEnd, Contacts
from gossamer.ports.segments import DiskFull

AUTHOR = Author(crawl="c1", boot="b00t", owner_epoch=3)
NOON = 1_788_264_000.25  # 2026-09-01T12:00:00.25Z


def contact(number: int = 1, **changes: Any) -> Contact:
    plain = Contact(
        host="example.com",
        address="192.0.2.7",
        port=443,
        url=f"https://example.com/{number}",
        purpose="page",
        robots_epoch=7,
        robots_reason="fresh",
        robots_body="ab12",
        robots_fetched_at=NOON - 60,
        robots_for="",
        delay=DelayRules(0.5, 10.0, 60.0),
        gap_s=1.0,
        crawl_delay_s=None,
        per_address_delay_s=0.1,
        wall_s=NOON,
        monotonic_s=100.5,
    )
    return plain._replace(**changes)


def ended(number: int, **changes: Any) -> ContactEnd:
    return ContactEnd(number, "answered", 200, "", NOON + 1, 101.5, 0.75)._replace(**changes)


def lines(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in contact_logs(directory) for line in path.read_bytes().splitlines()]


def test_a_begin_says_who_asks_whom_for_what_under_which_rules(tmp_path: Path) -> None:
    log: Contacts = ContactLog(tmp_path, AUTHOR)
    log.begin(contact(crawl_delay_s=5.0))
    assert lines(tmp_path) == [
        {
            "record": "begin",
            "id": "1-1",
            "crawl": "c1",
            "wallTime": "2026-09-01T12:00:00.250000Z",
            "monotonicSeconds": 100.5,
            "boot": "b00t",
            "ownerEpoch": 3,
            "host": "example.com",
            "address": "192.0.2.7",
            "port": 443,
            "method": "GET",
            "url": "https://example.com/1",
            "purpose": "page",
            "ruleEpoch": 7,
            "ruleReason": "fresh",
            "ruleBody": "ab12",
            "ruleFetchedAt": "2026-09-01T11:59:00.250000Z",
            "delays": {
                "gapSeconds": 1.0,
                "crawlDelaySeconds": 5.0,
                "perAddressDelaySeconds": 0.1,
                "delaySeconds": 0.5,
                "delayFactor": 10.0,
                "delayMaxSeconds": 60.0,
            },
        }
    ]


def test_what_holds_for_a_whole_process_is_in_its_first_record(tmp_path: Path) -> None:
    started_at = datetime(2026, 9, 1, 12, tzinfo=UTC)
    facts = RunFacts(
        started_at=started_at,
        started_monotonic_s=99.5,
        agent="gossamer",
        robots_unreachable=UnreachableMode.RFC,
        robots_off=("b.test",),
    )
    log = ContactLog(tmp_path, Author(crawl="c1", boot="b00t", run=facts))
    log.begin(contact())
    log.begin(contact())
    first, second = lines(tmp_path)
    assert first["run"] == {
        "startedAt": "2026-09-01T12:00:00Z",
        "startedMonotonicSeconds": 99.5,
        "agent": "gossamer",
        "robotsUnreachable": "rfc",
        "robotsOff": ["b.test"],
    }
    assert "run" not in second


def test_a_contact_for_robots_txt_says_whose(tmp_path: Path) -> None:
    ContactLog(tmp_path, AUTHOR).begin(contact(purpose="robots", robots_for="http://a.test", robots_fetched_at=None))
    (written,) = lines(tmp_path)
    assert written["rulesFor"] == "http://a.test"
    assert "ruleFetchedAt" not in written


def test_an_end_says_how_it_went(tmp_path: Path) -> None:
    log = ContactLog(tmp_path, AUTHOR)
    log.end(ended(log.begin(contact()), status=429, retry_after="120", outcome="answered"))
    assert lines(tmp_path)[1] == {
        "record": "end",
        "id": "1-1",
        "wallTime": "2026-09-01T12:00:01.250000Z",
        "monotonicSeconds": 101.5,
        "outcome": "answered",
        "status": 429,
        "retryAfterSeconds": 120.0,
        "durationSeconds": 0.75,
    }


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("", None), ("soon", None), ("0", 0.0), ("Tue, 01 Sep 2026 12:00:31 GMT", 29.75), ("-1", None)],
)
def test_retry_after_is_logged_in_seconds(tmp_path: Path, written: str, seconds: float | None) -> None:
    log = ContactLog(tmp_path, AUTHOR)
    log.end(ended(log.begin(contact()), retry_after=written))
    [found] = paired(read_contacts(tmp_path))
    assert found.end is not None
    assert found.end.retry_after_s == seconds


def test_no_answer_has_no_status(tmp_path: Path) -> None:
    log = ContactLog(tmp_path, AUTHOR)
    log.end(ended(log.begin(contact()), status=0, outcome="connect-timeout"))
    [found] = paired(read_contacts(tmp_path))
    assert found.end is not None
    assert (found.end.status, found.end.outcome) == (None, "connect-timeout")


def test_what_is_read_is_what_was_written_at_once_and_in_order(tmp_path: Path) -> None:
    log = ContactLog(tmp_path, AUTHOR)
    numbers = [log.begin(contact(number)) for number in range(3)]
    log.end(ended(numbers[1]))
    seen = list(read_contacts(tmp_path))  # beside the writer
    assert [type(record) for record in seen] == [BeginContact] * 3 + [EndContact]
    begin = seen[0]
    assert isinstance(begin, BeginContact)
    assert begin.wall_time == datetime.fromtimestamp(NOON, UTC)
    assert [(pair.begin.url[-1], pair.end is not None) for pair in paired(seen)] == [
        ("1", True),
        ("0", False),
        ("2", False),
    ]


def test_an_end_without_its_begin_is_passed_over(tmp_path: Path) -> None:
    log = ContactLog(tmp_path, AUTHOR)
    log.end(ended(99))
    assert list(paired(read_contacts(tmp_path))) == []


def test_a_log_without_contacts_is_empty(tmp_path: Path) -> None:
    ContactLog(tmp_path / "contacts", AUTHOR).close()
    assert list(read_contacts(tmp_path / "contacts")) == []
    assert list(read_contacts(tmp_path / "nowhere")) == []


def test_files_are_rotated_by_size_and_read_in_order(tmp_path: Path) -> None:
    log = ContactLog(tmp_path, AUTHOR, log_bytes_max=2000)
    for number in range(20):
        log.end(ended(log.begin(contact(number))))
    log.close()
    files = contact_logs(tmp_path)
    assert len(files) > 3
    assert files[0].name == "contacts-00000001-b00t.jsonl"
    assert all(path.stat().st_size <= 2000 for path in files)
    pairs = list(paired(read_contacts(tmp_path)))
    assert [pair.begin.url for pair in pairs] == [f"https://example.com/{number}" for number in range(20)]
    assert all(pair.end for pair in pairs)


def test_a_new_process_begins_a_new_file_and_new_ids_also_on_the_same_boot(tmp_path: Path) -> None:
    for run in range(3):
        log = ContactLog(tmp_path, AUTHOR)
        log.begin(contact(run))
        log.close()
    assert len(contact_logs(tmp_path)) == 3
    assert len({pair.begin.id for pair in paired(read_contacts(tmp_path))}) == 3


@pytest.mark.parametrize("cut_bytes", [1, 10, 100, 200])
def test_a_torn_last_line_is_passed_over_in_every_file(tmp_path: Path, cut_bytes: int) -> None:
    for run in range(2):
        log = ContactLog(tmp_path, AUTHOR)
        log.begin(contact(run))
        log.begin(contact(run))
        log.close()
        path = contact_logs(tmp_path)[-1]
        path.write_bytes(path.read_bytes()[:-cut_bytes])
    assert [pair.begin.url[-1] for pair in paired(read_contacts(tmp_path))] == ["0", "1"]


@pytest.mark.parametrize(
    "line", [b"\n", b"{}\n", b'{"record":"begin"}\n', b"\0\0\0\n", b'{"record":"other"}\n', b"[]\n", b"\xff\n"]
)
def test_a_whole_line_that_is_no_record_is_damage(tmp_path: Path, line: bytes) -> None:
    log = ContactLog(tmp_path, AUTHOR)
    log.begin(contact())
    path = contact_logs(tmp_path)[0]
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(ContactLogDamaged, match="line 2"):
        list(read_contacts(tmp_path))


def test_files_of_others_are_no_log(tmp_path: Path) -> None:
    (tmp_path / "contacts-1-b.jsonl.bak").write_bytes(b"x\n")
    (tmp_path / "notes.jsonl").write_bytes(b"x\n")
    assert list(read_contacts(tmp_path)) == []


@pytest.mark.parametrize("boot", ["", "../x", "a b", "x" * 65])
def test_a_boot_id_cannot_leave_the_directory(tmp_path: Path, boot: str) -> None:
    with pytest.raises(ValueError, match="boot id"):
        ContactLog(tmp_path, Author(crawl="c1", boot=boot))


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.adapters.test_contact_log import AUTHOR, contact
from gossamer.adapters.files.contact_log import ContactLog
log = ContactLog(Path(sys.argv[2]), AUTHOR)
while True:
    print(log.begin(contact()), flush=True)
"""


@pytest.mark.slow
def test_a_kill_right_after_begin_loses_no_contact(tmp_path: Path) -> None:
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, root, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        for _ in range(50):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        begun = [int(line) for line in child.stdout if line.endswith("\n")]
    written = [record.id for record in read_contacts(tmp_path)]
    assert len(written) >= max(begun, default=50)
    assert written == [f"1-{number}" for number in range(1, len(written) + 1)]


def test_a_full_disk_refuses_the_contact_and_tears_no_line(tmp_path: Path) -> None:
    log = ContactLog(tmp_path, AUTHOR)
    log.begin(contact(1))
    size_bytes = contact_logs(tmp_path)[0].stat().st_size
    with no_file_beyond(size_bytes + 50), pytest.raises(DiskFull):
        log.begin(contact(2))
    assert contact_logs(tmp_path)[0].stat().st_size == size_bytes
    log.begin(contact(3))
    assert [pair.begin.url[-1] for pair in paired(read_contacts(tmp_path))] == ["1", "3"]
