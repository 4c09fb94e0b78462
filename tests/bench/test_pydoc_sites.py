"""The independent walk of the files, on a site small enough to see through."""

from pathlib import Path

from bench.pydoc_sites import Walk, reachable


def site(root: Path, **files: str) -> Walk:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_html", ".html").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return reachable(root, "http://doc.test/")


def test_pages_files_missing_and_external_links_are_told_apart(tmp_path: Path) -> None:
    walk = site(
        tmp_path,
        index_html='<a href="sub/one.html#part">1</a> <a href="http://other.test/x#y">2</a> <a href="mailto:a@b">3</a>',
        sub__one_html='<map><area href="../two.html?q"></map> <a href="../gone.html">4</a> <a href="../code.py">5</a>',
        two_html='<a href="/index.html">home</a> <img src="picture.png"> <link rel="next" href="next.html">',
        code_py='"<a href=no.html>"',
        unlinked_html="nobody comes here",
    )
    assert walk.pages == {f"http://doc.test/{path}" for path in ("", "index.html", "sub/one.html", "two.html?q")}
    assert walk.files == {"http://doc.test/code.py"}
    assert walk.missing == {"http://doc.test/gone.html"}
    assert walk.external == {"http://other.test/x"}


def test_the_start_page_alone_is_a_walk_of_one(tmp_path: Path) -> None:
    walk = site(tmp_path, index_html="no links")
    assert walk == Walk(frozenset({"http://doc.test/"}), frozenset(), frozenset(), frozenset())
