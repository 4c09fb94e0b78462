"""What a crawl's socket answers to lines that are no request. What requests do is in `e2e/test_control.py`."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest

from gossamer.surfaces.cli.control_socket import REQUEST_BYTES_MAX, serve_control

NO_CRAWL = cast("Any", None)
"""None is asked: a line that is no request never reaches it."""


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        b"null\n",
        b'"do"\n',
        b"stop\0\n",
        b"\xff\xfe\n",
        b"[" * (REQUEST_BYTES_MAX - 2) + b"\n",
    ],
    ids=["nothing", "empty", "object", "list", "null", "text", "no JSON", "no text", "deep"],
)
def test_a_line_that_is_no_request_is_told_what_one_is(line: bytes, tmp_path: Path) -> None:
    async def scenario() -> tuple[dict[str, Any], list[object]]:
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
        async with serve_control(tmp_path / "socket", NO_CRAWL, NO_CRAWL), asyncio.timeout(5):
            reader, writer = await asyncio.open_unix_connection(str(tmp_path / "socket"))
            writer.write(line)
            writer.write_eof()
            answer = json.loads(await reader.readline())
            writer.close()
            return answer, faults

    answer, faults = asyncio.run(scenario())
    assert "one JSON line is expected" in answer["error"]
    assert faults == []
