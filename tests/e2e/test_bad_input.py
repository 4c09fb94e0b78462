"""What a user or the machine gets wrong: one clear message on stderr, the right exit code, and nothing lost by it."""

import asyncio
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.gossamer_command import UNHURRIED, Done, assert_one_sentence, assert_verified, gossamer, living
from tests.e2e.lab import lab_words

from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.core.keys import VERSION_KEY
from gossamer.core.rows import ROW_VERSION
from gossamer.ports.partition_store import Family
from gossamer.testing.lab_hosts import LabConfig
from gossamer.testing.lab_process import LabDescription, LabOptions, running_lab

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

USAGE, MACHINE = 2, 3
SEED = "http://site00.test/"
FULL_DISK_BYTES = 16 * 2**20


@pytest.fixture(scope="module")
def lab() -> Iterator[LabDescription]:
    with running_lab(LabOptions(config=LabConfig(hosts=3))) as running:
        yield running.description


@pytest.fixture(scope="module")
def unfinished(lab: LabDescription, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has spent its budget: state, files, and more to do."""
    data = tmp_path_factory.mktemp("unfinished") / "data"
    done = gossamer(*lab_words(lab), *UNHURRIED, "--max-pages", "20", "--data", str(data), cwd=data.parent)
    assert done.code == 0, done.err
    return data


@pytest.fixture
def data(unfinished: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    return Path(shutil.copytree(unfinished, tmp_path / "data"))


def crawl(*words: str, data: Path, **variables: str) -> Done:
    return gossamer("crawl", *words, "--data", str(data), cwd=data.parent, variables=variables)


def contents(directory: Path) -> dict[str, str]:
    """Every file of a directory by its hash, but the lock, which names its last holder."""
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.name != "owner.lock"
    }


# What the user writes -------------------------------------------------------------------------------------------------


def test_an_unknown_config_key_is_named_with_the_key_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("delay = 3\nmax_pagse = 7\n")
    done = crawl(SEED, data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert "max_pagse" in done.err
    assert "did you mean max_pages?" in done.err
    assert "did you mean delay_s?" in done.err
    assert not (tmp_path / "data").exists()


def test_all_faults_are_told_at_once_each_with_what_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('attempts = "many"\n')
    wrong = ["--delay", "soon", "--max-pages", "0", "--scope", "galaxy", "--include", "(", "--allow-address", "here"]
    done = crawl(SEED, *wrong, data=tmp_path / "data", GOSSAMER_PARSERS="-3")
    assert_one_sentence(done, USAGE)
    lines = done.err.splitlines()
    assert len(lines) == 7
    for key, value in [
        ("delay_s", "soon"), ("max_pages", "0"), ("scope", "galaxy"), ("include", "("), ("allow_address", "here"),
        ("attempts", "many"), ("parsers", "-3"),
    ]:  # fmt: skip
        (line,) = [line for line in lines if f"{key} = {value!r}" in line]
        assert "allowed: " in line
    assert any("GOSSAMER_PARSERS" in line for line in lines)
    assert any("gossamer.toml" in line for line in lines)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e9", "", "1s"])
def test_a_bad_number_is_no_number(tmp_path: Path, value: str) -> None:
    done = crawl(SEED, "--delay", value, data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert f"delay_s = {value!r}" in done.err


@pytest.mark.parametrize("words", [["--dellay", "3"], ["--max-pages"], ["--no-such"]])
def test_an_unknown_or_unfinished_option_is_named(tmp_path: Path, words: list[str]) -> None:
    done = gossamer("crawl", SEED, *words, cwd=tmp_path)
    assert_one_sentence(done, USAGE)
    assert words[0] in done.err


def test_an_unknown_command_is_named(tmp_path: Path) -> None:
    done = gossamer("crowl", cwd=tmp_path)
    assert_one_sentence(done, USAGE)
    assert "crowl" in done.err


@pytest.mark.parametrize("text", ["delay_s = ", "\0", "[delay_s]\nx = 1"])
def test_a_config_file_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "my.toml").write_text(text)
    done = crawl(SEED, "--config", "my.toml", data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert "my.toml" in done.err


def test_a_config_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = crawl(SEED, "--config", "absent.toml", data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert "absent.toml" in done.err


@pytest.mark.parametrize(
    "seed", ["", "http://", "ftp://site.test/", "http://a b/", "mailto:me@site.test", "http://[::1", "javascript:1"]
)
def test_a_seed_that_is_no_url_of_a_page_is_named(tmp_path: Path, seed: str) -> None:
    done = crawl(seed, data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert repr(seed) in done.err or seed in done.err
    assert not (tmp_path / "data").exists()


def test_all_bad_seeds_are_told_at_once(tmp_path: Path) -> None:
    done = crawl("ftp://a.test/", SEED, "http://[", data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert "ftp://a.test/" in done.err
    assert "http://[" in done.err


def test_no_seed_and_nothing_to_go_on_with(tmp_path: Path) -> None:
    done = crawl(data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert "no seed" in done.err


def test_a_seed_that_cannot_be_resolved(tmp_path: Path) -> None:
    done = crawl("http://no-such-name.invalid/", data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert "no-such-name.invalid" in done.err


# What the machine does ------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 MiB: a crawl asks for 64 MiB before it begins."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={FULL_DISK_BYTES}", "gossamer-test", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_is_full_at_the_start(small_disk: Path) -> None:
    done = crawl(SEED, data=small_disk / "data")
    assert_one_sentence(done, MACHINE)
    assert "MiB free" in done.err
    assert contents(small_disk) == {}


def test_a_directory_that_another_crawl_uses(lab: LabDescription, data: Path) -> None:
    words = [*lab_words(lab), "--max-pages", "1000", "--data", str(data)]
    with living([*words, "--delay", "5"], data.parent) as life:
        while not (data / "state" / "control.sock").exists():
            assert life.lives_for(0.05), life.err()
        for command in (words, [*words, "--new"]):
            done = gossamer(*command, cwd=data.parent)
            assert_one_sentence(done, USAGE)
            assert f"in use by process {life.pid}" in done.err
        assert life.lives_for(0.1), life.err()
    assert_verified(data)


def test_a_data_path_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    done = crawl(SEED, data=tmp_path / "data")
    assert_one_sentence(done, USAGE)
    assert (tmp_path / "data").read_text() == "mine"


@pytest.mark.parametrize("command", ["status", "pages", "hosts", "verify", "pause", "resume", "stop"])
def test_commands_on_a_directory_without_a_crawl(tmp_path: Path, command: str) -> None:
    done = gossamer(command, "--data", "nowhere", cwd=tmp_path)
    assert_one_sentence(done, USAGE)
    assert "nowhere" in done.err
    assert not (tmp_path / "nowhere").exists()


@pytest.fixture
def read_only(data: Path) -> Iterator[Path]:
    """Mounted so that even root may not write."""
    subprocess.run(["mount", "--bind", str(data), str(data)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(data)], check=True)
        yield data
    finally:
        subprocess.run(["umount", str(data)], check=True)


def test_a_read_only_directory(read_only: Path, lab: LabDescription) -> None:
    before = contents(read_only)
    done = gossamer(*lab_words(lab), "--data", str(read_only), cwd=read_only.parent)
    assert_one_sentence(done, MACHINE)
    assert "ead-only" in done.err
    assert contents(read_only) == before


def test_a_state_of_a_newer_version(data: Path, lab: LabDescription) -> None:
    store = RocksPartitionStore(data / "state" / "db")
    batch = store.batch()
    batch.put(Family.META, VERSION_KEY, str(ROW_VERSION + 1).encode())
    asyncio.run(store.commit(batch))
    store.close()
    before = records_of(data)
    done = gossamer(*lab_words(lab), "--data", str(data), cwd=data.parent)
    assert_one_sentence(done, MACHINE)
    assert "newer Gossamer" in done.err
    assert {name: digest for name, digest in records_of(data).items() if not name.startswith("state/")} == {
        name: digest for name, digest in before.items() if not name.startswith("state/")
    }


# Damage ---------------------------------------------------------------------------------------------------------------


def remove_current(state: Path) -> None:
    (state / "CURRENT").unlink()


def truncate_current(state: Path) -> None:
    os.truncate(state / "CURRENT", 0)


def garble_current(state: Path) -> None:
    (state / "CURRENT").write_text("MANIFEST-999999\n")


def garble_manifest(state: Path) -> None:
    (manifest,) = state.glob("MANIFEST-*")
    manifest.write_bytes(b"\xa5" * manifest.stat().st_size)


def remove_manifest(state: Path) -> None:
    (manifest,) = state.glob("MANIFEST-*")
    manifest.unlink()


def remove_a_table(state: Path) -> None:
    min(state.glob("*.sst")).unlink()


@pytest.mark.parametrize(
    "damage",
    [
        remove_current,
        truncate_current,
        garble_current,
        garble_manifest,
        remove_manifest,
        remove_a_table,
    ],
)
def test_a_damaged_state_is_refused_and_left_as_it_is(
    damage: Callable[[Path], None], flushed: Path, lab: LabDescription
) -> None:
    damage(flushed / "state" / "db")
    before = records_of(flushed)
    done = gossamer(*lab_words(lab), "--data", str(flushed), cwd=flushed.parent)
    assert_one_sentence(done, MACHINE)
    assert str(flushed) in done.err
    assert records_of(flushed) == before
    for command in ("status", "verify"):
        looked = gossamer(command, "--data", str(flushed), cwd=flushed.parent)
        assert_one_sentence(looked, MACHINE)
    assert records_of(flushed) == before


@pytest.fixture
def flushed(data: Path) -> Path:
    """With its rows in tables instead of the log."""
    store = RocksPartitionStore(data / "state" / "db")
    store.close()
    return data


def records_of(data: Path) -> dict[str, str]:
    """What must not be touched: archives, contacts, and the tables, logs and manifests of the state."""
    return {name: digest for name, digest in contents(data).items() if not name.startswith("state/db/LOG")}


def test_one_wrong_octet_in_any_table_is_never_taken_for_the_end_of_the_rows(
    flushed: Path, lab: LabDescription, tmp_path: Path
) -> None:
    tables = sorted((flushed / "state" / "db").glob("*.sst"))
    assert len(tables) > 5
    for number, table in enumerate(tables):
        copy = Path(shutil.copytree(flushed, tmp_path / f"copy{number}"))
        damaged = copy / "state" / "db" / table.name
        octets = bytearray(damaged.read_bytes())
        octets[20] ^= 0x40
        damaged.write_bytes(octets)
        before = kept(copy)
        looked = gossamer("verify", "--data", str(copy), cwd=tmp_path)
        assert_one_sentence(looked, MACHINE)
        assert table.name in looked.err
        done = gossamer(*lab_words(lab), *UNHURRIED, "--data", str(copy), cwd=tmp_path)
        assert "Traceback" not in done.err
        assert done.code == (MACHINE if table.name in done.err else 0), done.err
        assert "starts in" not in done.err, "another crawl began beside the unreadable one"
        assert before.items() <= kept(copy).items()


def kept(data: Path) -> dict[str, bytes]:
    """The beginnings of all records so far: an archive may grow, and lose nothing."""
    return {path.name: path.read_bytes()[:1_000] for path in data.glob("warc/*/*.warc.gz")}
