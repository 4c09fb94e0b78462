"""What crosses a process border: keys, facts and links in packed form; bodies and texts never do."""

import msgspec

from gossamer.core.rows import CaptureRow, Kind, PageRow


class ParseJob(msgspec.Struct, array_like=True, frozen=True):
    """A capture whose parsing is due, and its place in the parse queue."""

    sequence: int
    capture: CaptureRow


class Found(msgspec.Struct, array_like=True):
    """Admissible URLs in normal form, and 16 bytes of key for each, joined."""

    urls: list[str] = []
    keys: bytes = b""


class Unparsed(msgspec.Struct, array_like=True, tag=True, frozen=True):
    """A capture that can't be parsed, because its own record can't be read. `fault` is a fixed name."""

    sequence: int
    fault: str


class Parsed(msgspec.Struct, array_like=True, tag=True):
    """What a parser made of one capture.

    `outlinks` is the packed list of OutlinkRow; `sitemaps` are what a sitemap index names; `refused` counts links that
    may not be admitted, by verdict; `text_segment_length` is the length of the text segment after this page's record.
    """

    sequence: int
    key: bytes
    hop: int
    kind: Kind
    page: PageRow
    pages: Found
    sitemaps: Found
    outlinks: bytes
    refused: dict[str, int]
    text_segment_length: int = 0
