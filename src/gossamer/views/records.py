"""Stored bytes: the record under a key, the body inside a stored response."""

from typing import NamedTuple

from gossamer.core.decoding import decode_body
from gossamer.core.http_message import field_values, parse_fields, payload_of, split_message
from gossamer.core.rows import CaptureKey
from gossamer.core.warc import RECORD_BYTES_MAX, RecordDamaged, StoredRecord, read_record
from gossamer.ports.segment_reading import SegmentReading


class StoredBody(NamedTuple):
    """A response as kept. `body` without transfer and content coding, `wire` with both; `fault`: why not all of it."""

    head: bytes
    body: bytes
    wire: bytes
    fault: str


def record_at(segments: SegmentReading, key: CaptureKey) -> StoredRecord | str:
    """The record, or one sentence about what is wrong with it."""
    try:
        return read_record(segments.read(key))
    except (OSError, RecordDamaged, ValueError) as error:
        return f"the record at {key} can't be read: {error}"


def stored_body(record: StoredRecord) -> StoredBody:
    """Head and body of a `response` record. What can't be decoded comes as it was received, with the fault named."""
    head, wire = split_message(record.block)
    fields = parse_fields(head)
    payload = payload_of(fields, wire)
    decoded = decode_body(payload, ",".join(field_values(fields, "content-encoding")), RECORD_BYTES_MAX)
    if decoded.fault and not decoded.body:
        return StoredBody(head, payload, wire, f"content coding not removed: {decoded.fault}")
    fault = decoded.fault or (f"cut after {RECORD_BYTES_MAX:,} bytes" if decoded.truncated else "")
    return StoredBody(head, decoded.body, wire, fault)
