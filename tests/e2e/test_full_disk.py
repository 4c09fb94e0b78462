"""A disk that fills up while a crawl runs: one message, no contacts, nothing lost, and on it goes when there is room."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.pydoc_sites import Served, Site, Walk
from tests.e2e.docs import BRISK, Few, docs_words
from tests.e2e.gossamer_command import Life, assert_verified, living

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DISK_BYTES = 256 * 2**20
LEFT_BYTES = 40 * 2**20  # a crawl asks for 64 MiB
LOOKS_MAX = 100
MACHINE_FAILED = 3


@pytest.fixture
def on_a_small_disk(sites: list[Site], plain_server: Served, tmp_path: Path) -> Iterator[Few]:
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "gossamer-test", str(place)], check=True)
    try:
        words = docs_words(sites[:1], plain_server, place / "data")
        yield Few(place / "data", sites[:1], words, plain_server, plain_server.log_bytes())
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_crawl_waits_for_room_and_goes_on_by_itself(on_a_small_disk: Few, walk: Walk) -> None:
    few, filler = on_a_small_disk, on_a_small_disk.data.parent / "filler"
    with living([*few.words, *BRISK], few.data.parent) as life:
        few.await_fetches(life, 50)
        fill(filler, LEFT_BYTES)
        await_words(life, "the disk is full")
        assert life.lives_for(1.0), life.err()
        before = len(few.served.fetches(few.since))
        assert life.lives_for(1.5), life.err()
        assert len(few.served.fetches(few.since)) == before
        filler.unlink()
        await_words(life, "has room again")
        assert life.process.wait(60) == 0, life.err()
        assert life.err().count("the disk is full") == 1
    few.assert_whole(walk)
    asked = [fetch[:2] for fetch in few.served.fetches(few.since)]
    assert len(asked) == len(set(asked))


def test_a_stop_on_a_disk_without_any_room_is_one_sentence_and_loses_nothing(on_a_small_disk: Few, walk: Walk) -> None:
    """The store can't write its rows to a table then; they stay in its log."""
    few, filler = on_a_small_disk, on_a_small_disk.data.parent / "filler"
    with living([*few.words, *BRISK], few.data.parent) as life:
        few.await_fetches(life, 50)
        fill(filler, LEFT_BYTES)
        await_words(life, "the disk is full")
        assert life.lives_for(0.5), life.err()
        fill(filler.with_name("rest"), 0)
        assert life.end(signal.SIGINT) == MACHINE_FAILED, life.err()
        assert life.err().count("gossamer: ") == 1
        assert life.err().endswith("no space left on the disk\n")
        assert "Traceback" not in life.err()
    for path in (filler, filler.with_name("rest")):
        path.unlink()
    assert_verified(few.data)
    done = few.goes_on()
    assert done.code == 0, done.err
    few.assert_whole(walk)


def fill(path: Path, left_bytes: int) -> None:
    """Take all room but so much."""
    free = os.statvfs(path.parent)
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - left_bytes)


def await_words(life: Life, words: str) -> None:
    for _ in range(LOOKS_MAX):
        if words in life.err():
            return
        assert life.lives_for(0.1), life.err()
    raise AssertionError(f"it does not say {words!r}: {life.err()}")
