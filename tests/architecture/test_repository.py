"""What is committed: nothing that ties it to one machine or to one package index."""

import re
from pathlib import Path

import pytest
from tests.architecture.repository import ROOT, committed

LOCKS = sorted(ROOT.glob("requirements*.txt")) + sorted((ROOT / "bench").glob("requirements*.txt"))
# Home and working directories of the machines that this is written on; web addresses in tests may contain the like.
MACHINE_PATH = re.compile(rb"(?<![\w./:-])/(?:work/[\w-]+|root/[\w.-]+|home/[\w-]+|Users/[\w-]+)/", re.ASCII)
INDEX = re.compile(r"^\s*(?:-i\b|--(?:extra-)?index-url|--find-links|-f\b|--trusted-host)|://", re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_names_packages_and_hashes_and_no_index(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert INDEX.search(text) is None
    pinned = re.findall(r"^[A-Za-z0-9][\w.\[\]-]*==", text, re.MULTILINE)
    assert pinned
    assert text.count("--hash=sha256:") >= len(pinned)


def test_no_committed_file_names_a_path_of_a_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match[0].decode()}"
        for path in committed()
        if (match := MACHINE_PATH.search(path.read_bytes())) is not None
    ]
    assert found == []


def test_no_test_sleeps_or_is_skipped() -> None:
    banned = re.compile(rb"\btime\.sleep\(|pytest\.(?:mark\.)?(?:skip|xfail)\b|importorskip")
    found = [
        f"{path.relative_to(ROOT)}: {match[0].decode()}"
        for path in committed()
        if path.suffix == ".py" and "tests" in path.parts and path.name != "test_repository.py"
        if (match := banned.search(path.read_bytes())) is not None
    ]
    assert found == []
