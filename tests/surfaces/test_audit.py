"""`gossamer audit` on a directory with a contact log, as a user and as a program see it."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.core.contact_story import OPEN, ContactStory
from tests.views.stored_crawl import StoredCrawl

from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.adapters.system.lock import DirectoryLock
from gossamer.core.robots_copy import Body
from gossamer.ports.partition_store import Family
from gossamer.surfaces.cli import audit as surface
from gossamer.views import audit as views
from gossamer.views.audit import StoredRules

A = "http://a.test/"
EVIL = "http://a.test/private/\x1b[31mred\u202e"


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stopped crawl of one host whose robots.txt is stored."""
    root = tmp_path_factory.mktemp("data")
    (root / "state").mkdir()
    store = RocksPartitionStore(root / "state" / "db")
    crawl = StoredCrawl(store, root, (A,))
    crawl.robots("http://a.test", Body(), b"x")
    crawl.overwrite(Family.ROBOTS, bytes.fromhex(OPEN), b"User-agent: *\nDisallow: /private\n")
    crawl.close()
    store.close()
    return root


@pytest.fixture
def data(stopped: Path) -> Path:
    """The same, before its first contact."""
    shutil.rmtree(stopped / "contacts", ignore_errors=True)
    return stopped


def log(data: Path, told: ContactStory, number: int = 1, tail: bytes = b"") -> Path:
    path = data / "contacts" / f"contacts-{number:08d}-b1.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in told.records) + tail)
    return path


def clean() -> ContactStory:
    return ContactStory().robots(0).page(1.25).page(2.5)


def run(data: Path, *arguments: str) -> Result:
    return CliRunner().invoke(surface.audit, [*arguments, "--data", str(data)], catch_exceptions=False)


def document(data: Path, *arguments: str, code: int = 0) -> Any:
    result = run(data, *arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_a_clean_log_is_told_in_the_promised_keys(data: Path) -> None:
    log(data, clean())
    assert document(data) == {
        "contacts": 3,
        "hosts": 1,
        "violations": [],
        "violationsTotal": 0,
        "smallestMarginMs": 250.0,
        "unfinished": 0,
    }


def test_a_violation_names_the_contact_and_both_times(data: Path) -> None:
    log(data, clean().page(3.0, "http://a.test/early"))
    found = document(data, code=1)
    assert found["violations"] == [
        {
            "kind": "gap",
            "host": "a.test",
            "url": "http://a.test/early",
            "at": "2026-09-01T12:00:03.000Z",
            "neededSeconds": 1.0,
            "hadSeconds": 0.5,
            "contactId": "1-4",
            "detail": "",
        }
    ]
    assert found["violationsTotal"] == 1
    assert found["smallestMarginMs"] == -500.0


def test_what_is_disallowed_is_judged_by_the_stored_robots_txt(data: Path) -> None:
    log(data, clean().page(4, "http://a.test/private/x"))
    (violation,) = document(data, code=1)["violations"]
    assert (violation["kind"], violation["detail"]) == ("disallowed", "Disallow: /private (line 2)")


def test_robots_txt_that_is_not_stored_proves_nothing(data: Path) -> None:
    log(data, clean().page(4, rule_body="ff" * 16).page(6, rule_body="no key"))
    assert [each["kind"] for each in document(data, code=1)["violations"]] == ["robots-missing"] * 2


def test_people_get_a_verdict_and_each_violation_on_a_line(data: Path) -> None:
    log(data, clean())
    shown = run(data)
    assert shown.exit_code == 0
    assert "no violation" in shown.stdout
    assert "250.000 ms" in shown.stdout
    log(data, clean().page(3.0, EVIL))
    shown = run(data)
    assert shown.exit_code == 1
    assert "2 violations" in shown.stdout
    assert "0.500 s of 1.000 s" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "\u202e" not in shown.stdout


def test_one_host_alone(data: Path) -> None:
    log(data, clean().robots(3, "b.test").page(3.5, "http://b.test/"))
    assert document(data, "--host", "A.test")["contacts"] == 3
    assert document(data, "--host", "b.test", code=1)["violations"][0]["host"] == "b.test"
    assert document(data, "--host", "c.test")["contacts"] == 0
    assert run(data, "--host", "http://").exit_code == 2


def test_the_files_of_several_processes_are_one_log(data: Path) -> None:
    told = clean()
    log(data, told)
    told.records.clear()
    log(data, told.restart(2.6).page(3.0), number=2, tail=b'{"record":"beg')
    assert [each["kind"] for each in document(data, code=1)["violations"]] == ["gap"]


def test_before_any_contact_there_is_nothing_wrong(data: Path) -> None:
    assert document(data)["contacts"] == 0
    assert document(data)["smallestMarginMs"] is None


def test_a_directory_without_a_crawl_is_one_sentence(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.exit_code == 2
    assert f"no crawl in {tmp_path}" in result.stderr


def test_a_damaged_log_is_a_failure_of_the_machine_and_names_the_line(data: Path) -> None:
    path = log(data, clean(), tail=b"no record\n")
    result = run(data)
    assert result.exit_code == 3
    assert f"{path}, line 7" in result.stderr
    assert result.stdout == ""


@pytest.fixture
def holder(data: Path) -> Iterator[Path]:
    """A process that crawls in the directory, as far as locks tell."""
    lock = DirectoryLock(data / "state" / "owner.lock")
    yield data
    lock.release()


def test_beside_a_crawl_the_log_is_read_as_far_as_the_state_that_was_opened(
    holder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(holder, clean().page(2.6))
    assert document(holder, code=1)["contacts"] == 4
    told = ContactStory().robots(0).page(1.25)
    future = told.page(10**9, "http://a.test/private/")
    log(holder, future)
    assert document(holder)["contacts"] == 2


def test_many_violations_are_counted_and_the_first_are_kept(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = clean()
    for number in range(60):
        told.page(3 + number / 10)
    log(data, told)
    monkeypatch.setattr(views, "VIOLATIONS_MAX", 30)
    found = document(data, code=1)
    assert (len(found["violations"]), found["violationsTotal"]) == (30, 60)
    assert "and 40 more" in run(data).stdout


def test_rules_held_ready_are_bounded_by_their_texts(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "RULES_BYTES_MAX", 1_000)
    store = RocksPartitionStore(data / "state" / "db")
    batch = store.batch()
    for number in range(10):
        batch.put(Family.ROBOTS, bytes([number]), b"User-agent: *\nDisallow: /%d\n" % number)
    import asyncio  # noqa: PLC0415

    asyncio.run(store.commit(batch))
    rules = StoredRules(store)
    for _ in range(2):
        for number in range(10):
            found = rules(f"{number:02x}", "gossamer")
            assert found is not None
            assert not found.decide(f"http://a.test/{number}").allowed
    assert len(rules._held) == 5
    store.close()
