"""What goes wrong with a data directory, and what is left of a crawl that could not begin."""

from pathlib import Path

import click
import pytest

from gossamer.adapters.files.contact_log import ContactLogDamaged
from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.system.lock import DirectoryLock
from gossamer.bootstrap import NoRoom
from gossamer.ports.parsing import ParserUnusable
from gossamer.ports.partition_store import StoreCorrupt, StoreFull, StoreLocked
from gossamer.ports.segments import DiskFull
from gossamer.surfaces.cli.faults import MachineFailed, NothingBegun, named_faults, nothing_left_behind


def falsely_started(data: Path, *, locked: bool = True) -> None:
    """As a crawl makes its directories before it finds that it has nothing to do."""

    def start() -> None:
        made = DataDirectory(data)
        made.state.mkdir(parents=True, exist_ok=True)
        if locked:
            DirectoryLock(made.lock).release()
        made.raw("c1").mkdir(parents=True)
        raise NothingBegun("no seed")

    with pytest.raises(NothingBegun), nothing_left_behind(data):
        start()


def test_a_directory_made_for_nothing_goes_with_its_parents(tmp_path: Path) -> None:
    falsely_started(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "warc" / "old").mkdir(parents=True)
    falsely_started(tmp_path)
    assert sorted(place.name for place in tmp_path.iterdir()) == ["mine.txt", "warc"]
    assert (tmp_path / "warc" / "old").is_dir()


def test_a_crawl_that_another_process_began_meanwhile_stays(tmp_path: Path) -> None:
    data = tmp_path / "data"
    DataDirectory(data).state.mkdir(parents=True)
    lock = DirectoryLock(DataDirectory(data).lock)
    falsely_started(data, locked=False)
    lock.release()
    assert DataDirectory(data).has_state


def in_use(data: Path) -> None:
    data.mkdir()
    raise click.UsageError("in use")


def test_other_faults_remove_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with pytest.raises(click.UsageError), nothing_left_behind(data):
        in_use(data)
    assert (tmp_path / "data").is_dir()


def test_a_directory_that_cannot_be_made_is_said_to_be_so() -> None:
    data = Path("/proc/gossamer")
    with pytest.raises(MachineFailed, match=r"^/proc/gossamer cannot be made: "), named_faults(data):
        data.mkdir()


def test_a_fault_inside_a_directory_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(MachineFailed, match=r"absent: No such file"), named_faults(tmp_path):
        (tmp_path / "absent").read_text()


@pytest.mark.parametrize(
    "fault", [ContactLogDamaged, DiskFull, NoRoom, ParserUnusable, StoreCorrupt, StoreFull, StoreLocked, OSError]
)
@pytest.mark.parametrize("depth", [0, 1, 2], ids=["alone", "in a group", "in a group of a group"])
def test_what_the_machine_did_is_one_sentence_and_exit_code_3(
    fault: type[Exception], depth: int, tmp_path: Path
) -> None:
    raised = fault("no room for x")
    for _ in range(depth):
        raised = ExceptionGroup("tasks", [raised])
    with pytest.raises(MachineFailed, match=r"^(/\S+: )?no room for x$") as caught, named_faults(tmp_path):
        raise raised
    assert caught.value.exit_code == 3
