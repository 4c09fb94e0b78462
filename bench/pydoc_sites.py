"""Real pages to crawl: Debian's HTML of the Python documentation as sites doc0.test, doc1.test …, served by nginx.

Also the independent walk of the files on disk (standard library only) that says which URLs a crawl must find.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import msgspec

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "pydoc"
PACKAGE = "python3-doc"
SITES_MAX = 100
START_TRIES_MAX = 200  # of 50 ms
STOP_MAX_S = 10.0
_BODY = '<div class="body" role="main">'


class SetupFailed(RuntimeError):
    """The documentation or nginx is missing and could not be had; the message holds the command's words."""


class Site(NamedTuple):
    host: str
    directory: Path


class Walk(NamedTuple):
    """What following every <a> and <area> from the start page finds, as absolute URLs without fragments."""

    pages: frozenset[str]  # HTML files that exist; the start page counts under each of its URLs
    files: frozenset[str]  # other files that exist
    missing: frozenset[str]  # 404
    external: frozenset[str]  # http and https links that leave the site


class Fetch(NamedTuple):
    """A line of nginx's access log."""

    host: str
    target: str
    status: int
    agent: str


class Served(NamedTuple):
    """nginx while it runs."""

    port: int
    access_log: Path

    def fetches(self, since_byte: int = 0) -> list[Fetch]:
        """What was logged after the first `since_byte` bytes of the log."""
        with self.access_log.open("rb") as log:
            log.seek(since_byte)
            return [msgspec.json.decode(line, type=Fetch) for line in log.read().splitlines()]

    def log_bytes(self) -> int:
        return self.access_log.stat().st_size


# -- the files


def _command(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupFailed(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def documentation() -> Path:
    """The directory of the unpacked HTML; downloaded with apt-get once, kept under .cache. Raises SetupFailed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    found = sorted(CACHE.glob("unpacked/usr/share/doc/python3.*/html"))
    if not found:
        _download()
        found = sorted(CACHE.glob("unpacked/usr/share/doc/python3.*/html"))
    if not found:
        raise SetupFailed(f"no HTML in the packages that {PACKAGE} depends on")
    return found[-1]


def _download() -> None:
    """`python3-doc` is an empty package: the HTML is in the python3.N-doc that it depends on."""
    try:
        depends = _command("apt-cache", "depends", PACKAGE)
    except SetupFailed:
        _command("apt-get", "update", "-qq")
        depends = _command("apt-cache", "depends", PACKAGE)
    real = [line.split()[-1] for line in depends.splitlines() if "Depends: python3." in line]
    if not real:
        raise SetupFailed(f"{PACKAGE} depends on no python3.N-doc: {depends}")
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        _command("apt-get", "download", "-q", real[0], cwd=Path(scratch))
        (package,) = Path(scratch).glob("*.deb")
        _command("dpkg", "-x", str(package), str(Path(scratch) / "unpacked"))
        (Path(scratch) / "unpacked").replace(CACHE / "unpacked")


def prepare(count: int) -> list[Site]:
    """`count` copies of the documentation; each page says which copy it is, so that no two texts are equal.

    About 45 MB a copy, made once and kept. Raises SetupFailed.
    """
    if not 1 <= count <= SITES_MAX:
        raise ValueError(f"count must be in 1…{SITES_MAX}, got {count}")
    source = documentation()
    return [Site(f"doc{number}.test", _copy(source, number)) for number in range(count)]


def _copy(source: Path, number: int) -> Path:
    target = CACHE / "sites" / f"doc{number}"
    if target.is_dir():
        return target
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        made = Path(scratch) / "html"
        shutil.copytree(source, made, symlinks=True, ignore_dangling_symlinks=True)
        for page in sorted(made.rglob("*.html")):
            name = page.relative_to(made).as_posix()
            text = page.read_text(encoding="utf-8")
            own = f"{_BODY}\n<p>This is copy number {number} of the page {name} and of no other.</p>\n"
            page.write_text(text.replace(_BODY, own, 1), encoding="utf-8")
        made.replace(target)
    return target


# -- the truth


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.hrefs: dict[str, None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href") if tag in {"a", "area"} else None
        if href is not None:
            self.hrefs[href.strip()] = None


def reachable(site_dir: Path, base_url: str) -> Walk:
    """Walks the files from `base_url` (the start page, ending in a slash). About 6 s, all of it html.parser's."""
    pages, files, missing, external = set[str](), set[str](), set[str](), set[str]()
    origin = urlsplit(base_url)[:2]
    waiting, known = [base_url], {base_url}
    while waiting:  # ends: the files are finite and a missing one has no links
        url = waiting.pop()
        path = site_dir / unquote(urlsplit(url).path).lstrip("/")
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            missing.add(url)
            continue
        if path.suffix != ".html":
            files.add(url)
            continue
        pages.add(url)
        for link in _links(url, path):
            if urlsplit(link)[:2] != origin:
                external.add(link)
            elif link not in known:
                known.add(link)
                waiting.append(link)
    return Walk(frozenset(pages), frozenset(files), frozenset(missing), frozenset(external))


def _links(url: str, path: Path) -> Iterator[str]:
    parser = _Anchors()
    parser.feed(path.read_text(encoding="utf-8"))
    for href in parser.hrefs:
        link = urldefrag(urljoin(url, href)).url
        if urlsplit(link).scheme in {"http", "https"}:
            yield link


# -- nginx

_CONFIG = """
daemon off;
{user}
worker_processes 1;
pid {run}/nginx.pid;
error_log {run}/error.log warn;
events {{ worker_connections 1024; }}
http {{
  include /etc/nginx/mime.types;
  default_type text/plain;
  client_body_temp_path {run}/body; proxy_temp_path {run}/proxy; fastcgi_temp_path {run}/fastcgi;
  uwsgi_temp_path {run}/uwsgi; scgi_temp_path {run}/scgi;
  log_format lines escape=json '["$host","$request_uri",$status,"$http_user_agent"]';
  access_log {run}/access.log lines;
  # text/html is always among the types of gzip; naming it would be warned about
  gzip {gzip}; gzip_types text/plain; gzip_min_length 256;
  server_names_hash_bucket_size 128;
{servers}
}}
"""


def _nginx() -> str:
    """The program; installs Debian's nginx-light where it is missing. Raises SetupFailed."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    found = shutil.which("nginx", path=path)
    if found is None:
        with contextlib.suppress(SetupFailed):
            _command("apt-get", "update", "-qq")
        _command("apt-get", "install", "-y", "-qq", "--no-install-recommends", "nginx-light")
        found = shutil.which("nginx", path=path)
    if found is None:
        raise SetupFailed("nginx is missing: apt-get install nginx-light")
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def serve(sites: Sequence[Site], *, gzip: bool = True) -> Iterator[Served]:
    """nginx on 127.0.0.1 with a server for each site, stopped by its own pid. Raises SetupFailed.

    With gzip, pages are compressed and chunked; without, they come as they lie, with a Content-Length.
    """
    program = _nginx()
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="nginx-") as run:
        port = _free_port()
        servers = "\n".join(
            f"  server {{ listen 127.0.0.1:{port}; server_name {site.host}; root {site.directory}; }}" for site in sites
        )
        config = Path(run) / "nginx.conf"
        user = "user root;" if os.geteuid() == 0 else ""  # else its workers, being nobody, may not read the files
        config.write_text(_CONFIG.format(run=run, servers=servers, user=user, gzip="on" if gzip else "off"))
        words = [program, "-p", run, "-e", f"{run}/error.log", "-c", str(config)]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL) as process:
            try:
                _await_port(process, port, Path(run) / "error.log")
                yield Served(port, Path(run) / "access.log")
            finally:
                process.terminate()
                try:
                    process.wait(STOP_MAX_S)
                except subprocess.TimeoutExpired:
                    process.kill()


def _await_port(process: subprocess.Popen[bytes], port: int, error_log: Path) -> None:
    pause = threading.Event()
    for _ in range(START_TRIES_MAX):
        if process.poll() is not None:
            break
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 1):
            return
        pause.wait(0.05)
    raise SetupFailed(f"nginx does not answer: {error_log.read_text() if error_log.exists() else 'no log'}")
