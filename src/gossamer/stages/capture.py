"""Answers into WARC records: the one place where an exchange becomes bytes on disk."""

from functools import lru_cache
from random import Random

from gossamer.core.cdxj import CdxEntry
from gossamer.core.http_message import field_values
from gossamer.core.rows import CaptureKey
from gossamer.core.warc import CapturedExchange, exchange_records, timestamp14
from gossamer.ports.segments import Segments
from gossamer.ports.web import Response

_timestamp14 = lru_cache(64)(timestamp14)


class CaptureWriter:
    """Appends response and request records; the key is the response's."""

    def __init__(self, segments: Segments, rng: Random) -> None:
        self._segments = segments
        self._rng = rng
        self._touched: dict[str, int] = {}

    def append(self, url: str, address: str, at: float, answer: Response) -> CaptureKey:
        """Store an exchange that ended at wall time `at`. Raises DiskFull, leaving nothing behind."""
        codings = field_values(answer.fields, "content-encoding")
        records = exchange_records(
            CapturedExchange(
                url=url,
                address=address,
                fetched_at=at,
                request_head=answer.request_head,
                head=answer.head,
                wire_body=answer.wire_body,
                payload=answer.payload,
                content_encoding=",".join(codings),
                truncated=answer.truncated,
                response_id=self._rng.randbytes(16),
                request_id=self._rng.randbytes(16),
            )
        )
        entry = CdxEntry(
            url=url,
            timestamp=_timestamp14(int(at)),
            mime=(field_values(answer.fields, "content-type") or [""])[0],
            status=answer.status,
            digest=records.payload_digest,
            length=len(records.response),
            offset=0,
            filename="",
        )
        both = self._segments.append(records.response + records.request, entry=entry)
        self._touched[both.segment] = both.offset + both.length
        return CaptureKey(both.segment, both.offset, len(records.response))

    def take_touched(self) -> dict[str, int]:
        """Lengths of the segments appended to since the last call, by name: what the next batch commits."""
        touched, self._touched = self._touched, {}
        return touched
