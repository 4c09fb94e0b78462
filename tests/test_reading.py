"""Opening a data directory for looking: what is said where there is nothing to look at."""

from pathlib import Path

import pytest

from gossamer.adapters.files.data_directory import DataDirectory
from gossamer.adapters.rocksdb.partition_store import RocksPartitionStore
from gossamer.reading import NothingThere, open_reading


def said(data: Path) -> str:
    with pytest.raises(NothingThere) as told, open_reading(data) as reading:
        reading.crawl(None)
    return str(told.value)


def with_state(data: Path) -> Path:
    state = DataDirectory(data).state
    state.mkdir(parents=True)
    RocksPartitionStore(state).close()
    return data


@pytest.fixture
def here(tmp_path: Path) -> Path:
    place = tmp_path / "here"
    place.mkdir()
    return place


def test_a_directory_without_a_crawl(here: Path) -> None:
    assert said(here / "data") == f"no crawl in {here}/data"


def test_a_state_in_which_no_crawl_was_begun(here: Path) -> None:
    assert said(with_state(here / "data")) == f"no crawl in {here}/data"


@pytest.mark.parametrize("place", ["gossamer-lab", "data/lab"])
def test_data_beside_or_inside_is_hinted_at(here: Path, place: str) -> None:
    found = with_state(here / place)
    assert said(here / "data") == f"no crawl in {here}/data; data of crawls is in {found}: say --data {found}"


def test_a_few_of_many_are_named(here: Path) -> None:
    for number in range(5):
        DataDirectory(here / f"d{number}").state.mkdir(parents=True)
    assert f"{here}/d2: say --data {here}/d0" in said(here / "data")
    assert "d3" not in said(here / "data")
