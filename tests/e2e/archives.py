"""WARC files read by others' programs: warcio's own check, FastWARC, and the accounts of records a URL has."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecordType

WARCIO = str(Path(sys.executable).with_name("warcio"))


class Census(NamedTuple):
    """What FastWARC finds in files: the 200 responses of each URL, all record ids, and records with a wrong digest."""

    answered: Counter[str]
    ids: Counter[str]
    kinds: Counter[str]
    wrong: list[str]


def raw_segments(data: Path) -> list[Path]:
    return sorted(data.glob("warc/*/*.warc.gz"))


def text_segments(data: Path) -> list[Path]:
    return sorted(data.glob("text/*/*.warc.wet.gz"))


def assert_warcio_approves(files: Iterable[Path]) -> None:
    """`warcio check` of every file, two at a time: digests, lengths, gzip members."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        done = list(pool.map(_warcio_check, files))
    assert done, "no file to check"
    assert [words for words in done if words] == []


def _warcio_check(file: Path) -> str:
    done = subprocess.run([WARCIO, "check", str(file)], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"{file.name}: {done.stdout[-500:]}{done.stderr[-500:]}"


def census(files: Iterable[Path]) -> Census:
    """Reads every record of the files to its end."""
    found = Census(Counter(), Counter(), Counter(), [])
    for file in files:
        for record in ArchiveIterator(str(file), parse_http=False):
            identity = record.headers["WARC-Record-ID"]
            found.ids[identity] += 1
            found.kinds[record.headers["WARC-Type"]] += 1
            if not record.verify_block_digest():
                found.wrong.append(f"{file.name}: block of {identity}")
            is_response = record.record_type is WarcRecordType.response
            if is_response and re.match(rb"HTTP/1\.\d 200 ", record.reader.read(13)):
                found.answered[record.headers["WARC-Target-URI"]] += 1
    return found


def payload_faults(files: Iterable[Path]) -> list[str]:
    """Responses whose payload digest FastWARC does not confirm."""
    return [
        f"{file.name}: {record.headers['WARC-Target-URI']}"
        for file in files
        for record in ArchiveIterator(str(file), record_types=WarcRecordType.response, parse_http=True)
        if not record.verify_payload_digest()
    ]


def assert_stored_once(data: Path, urls: frozenset[str]) -> None:
    """Each of these URLs, and robots.txt, has one 200 response; every record is whole and has an id of its own."""
    found = census(raw_segments(data))
    assert {url for url in found.answered if not url.endswith("/robots.txt")} == urls
    assert [url for url, count in found.answered.items() if count > 1] == []
    assert [identity for identity, count in found.ids.items() if count > 1] == []
    assert found.wrong == []
    assert found.kinds["request"] == found.kinds["response"] > 0


def assert_indexed(data: Path) -> None:
    """Every raw segment has its index, and no file of a killed writer lies about."""
    assert raw_segments(data)
    assert [file for file in raw_segments(data) if not index_of(file).is_file()] == []
    assert list(data.glob("warc/*/*.tmp")) == []


def index_of(segment: Path) -> Path:
    return segment.with_name(segment.name.removesuffix(".warc.gz") + ".cdxj")
