"""A web server of a few paths on loopback, for tests that need a real answer."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Reply(NamedTuple):
    """What a path answers; status 0: nothing before the site closes."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class LocalSite:
    """`origin` to ask, `replies` to change at any time, `asked` as it came: (path, user agent)."""

    def __init__(self, origin: str, replies: dict[str, Reply]) -> None:
        self.origin = origin
        self.replies = replies
        self.asked: list[tuple[str, str]] = []


@contextmanager
def local_site(replies: dict[str, Reply]) -> Iterator[LocalSite]:
    """Serve `replies` on 127.0.0.1; other paths are 404."""
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append((self.path, self.headers.get("User-Agent", "")))
            reply = site.replies.get(self.path, Reply(404))
            if reply.status == 0:
                closing.wait(30)
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *_: object) -> None:
            """Silence."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = LocalSite(f"http://127.0.0.1:{server.server_port}", replies)
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield site
        finally:
            closing.set()
            server.shutdown()
            serving.join()
