"""The segments of a crawl as the store and the disk know them, for `verify`."""

from pathlib import Path
from typing import BinaryIO

from gossamer.core.keys import LAST, committed_length, segment_meta_key, split_segment_meta_key
from gossamer.core.rows import CrawlRow
from gossamer.ports.partition_store import Family
from gossamer.reading import Reading
from gossamer.views.verify_records import SegmentFile

_SUFFIXES = (".warc.gz", ".warc.wet.gz")


def segments_of(reading: Reading, crawl: CrawlRow) -> dict[str, SegmentFile]:
    """By name: what is committed, what is on disk, also segments that only one of both knows."""
    prefix = segment_meta_key(f"gossamer-{crawl.crawl_id}-")
    committed = {
        split_segment_meta_key(key): committed_length(length)
        for key, length in reading.partition.scan(Family.META, prefix, prefix + LAST)
    }
    folders = (reading.directory.raw(crawl.crawl_id), reading.directory.text(crawl.crawl_id))
    found = {path.name for folder in folders if folder.is_dir() for path in folder.iterdir()}
    names = committed.keys() | {name for name in found if name.endswith(_SUFFIXES)}
    return {name: _segment(_path(folders, name), committed.get(name, 0)) for name in names}


def _path(folders: tuple[Path, Path], name: str) -> Path:
    return folders[name.endswith(_SUFFIXES[1])] / name


def _segment(path: Path, committed: int) -> SegmentFile:
    def opening() -> BinaryIO:
        return path.open("rb")

    try:
        return SegmentFile(committed, path.stat().st_size, opening)
    except FileNotFoundError:
        return SegmentFile(committed, None, opening)
