"""CPU time of reading a page with each HTML engine: `python -m bench.html_engines [--quick]`.

Parse, links, block-aware text and main text of Debian's python3-doc. turbohtml is what the crawler uses; resiliparse
comes with it for charsets; selectolax (lexbor) is measured when it is installed (`pip install selectolax`).
"""

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Sequence

from bench.pydoc_sites import prepare
from gossamer.core.html import html_facts, parse_document
from gossamer.core.text import full_text, main_text

ROUNDS = 3
URL = "http://doc0.test/library/page.html"

Engine = Callable[[str], object]


def turbohtml_engines() -> dict[str, Engine]:
    return {
        "turbohtml: parse": parse_document,
        "turbohtml: parse, links and facts": lambda page: html_facts(parse_document(page), URL),
        "turbohtml: parse, full text": lambda page: full_text(parse_document(page)),
        "turbohtml: parse, main text": lambda page: main_text(parse_document(page)),
    }


def resiliparse_engines() -> dict[str, Engine]:
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415
    from resiliparse.parse.html import HTMLTree  # noqa: PLC0415

    return {
        "resiliparse: parse": HTMLTree.parse,
        "resiliparse: parse, full text": lambda page: extract_plain_text(page, main_content=False),
        "resiliparse: parse, main text": lambda page: extract_plain_text(page, main_content=True),
    }


def selectolax_engines() -> dict[str, Engine]:
    if importlib.util.find_spec("selectolax") is None:
        return {}
    from selectolax.lexbor import LexborHTMLParser  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415

    def walked(page: str) -> list[int]:
        root = LexborHTMLParser(page).root
        return [] if root is None else [node.tag_id or 0 for node in root.traverse(include_text=True)]

    return {
        "selectolax (lexbor): parse": LexborHTMLParser,
        "selectolax: parse, hrefs": lambda page: [a.attrs.get("href") for a in LexborHTMLParser(page).css("a[href]")],
        "selectolax: parse, ask each node its name": walked,
    }


def cpu_ms(engine: Engine, pages: Sequence[str]) -> float:
    """Milliseconds a page, the best of ROUNDS."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        for page in pages:
            engine(page)
        best = min(best, time.process_time() - began)
    return best * 1000 / len(pages)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--quick", action="store_true", help="every tenth page")
    step = 10 if options.parse_args().quick else 2
    files = sorted(prepare(1)[0].directory.rglob("*.html"))[::step]
    pages = [file.read_text(encoding="utf-8") for file in files]
    mean_kb = sum(map(len, pages)) / len(pages) / 1000
    print(f"{len(pages)} pages of {mean_kb:.0f} KB in the mean, CPU of one process, best of {ROUNDS}\n")
    found: dict[str, float] = {}
    for name, engine in (turbohtml_engines() | resiliparse_engines() | selectolax_engines()).items():
        print(f"{name} …", file=sys.stderr)
        found[name] = round(cpu_ms(engine, pages), 3)
        print(f"{name:44} {found[name]:7.3f} ms")
    print(json.dumps({"pages": len(pages), "meanKb": round(mean_kb, 1), "cpuMs": found}))


if __name__ == "__main__":
    main()
