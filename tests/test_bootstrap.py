import asyncio
from pathlib import Path

import pytest

from gossamer.bootstrap import Installation, open_installation
from gossamer.core.keys import VERSION_KEY
from gossamer.core.rows import ROW_VERSION
from gossamer.ports.partition_store import Family, StoreCorrupt


async def write_version(installation: Installation, version: int) -> None:
    batch = installation.partition.batch()
    batch.put(Family.META, VERSION_KEY, str(version).encode())
    await installation.partition.commit(batch)


def test_a_new_directory_says_which_version_wrote_it(tmp_path: Path) -> None:
    with open_installation(tmp_path) as installation:
        assert installation.partition.get(Family.META, VERSION_KEY) == str(ROW_VERSION).encode()


def test_state_of_a_newer_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with open_installation(tmp_path) as installation:
        asyncio.run(write_version(installation, ROW_VERSION + 1))
    with pytest.raises(StoreCorrupt, match="newer Gossamer"), open_installation(tmp_path):
        pass


def test_state_of_an_earlier_version_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with open_installation(tmp_path) as installation:
        asyncio.run(write_version(installation, ROW_VERSION - 1))
    with pytest.raises(StoreCorrupt, match="earlier Gossamer"), open_installation(tmp_path):
        pass
