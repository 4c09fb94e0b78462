import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.html import parse_document
from gossamer.core.text import full_text, main_text


def text_of(html: str) -> str:
    """Blank lines between blocks left out: where they stand is the layout's business."""
    return re.sub(r"\n\n+", "\n", full_text(parse_document(html)))


def test_blocks_break_words_and_inline_elements_do_not__h_text_01() -> None:
    html = (
        "<body><nav>Menu</nav><main><h1>Title</h1><p>First part.</p>Loose words<div><h4>Sub</h4>"
        "<p><strong>fo</strong>o bar</p></div><div>Text</div><span>Next</span>"
        "<table><tr><td>a1</td><td>b2</td></tr></table>x<br>y</main></body>"
    )
    text = text_of(html)
    assert [text.count(once) for once in ("First part.", "Loose words", "foo bar")] == [1, 1, 1]
    for pattern in (r"Loose words\s+Sub", r"Text\s+Next", r"a1\s+b2", r"x\s+y"):
        assert re.search(pattern, text)
    assert not any(glued in text for glued in ("fo o", "wordsSub", "TextNext", "a1b2"))
    assert text == "Menu\nTitle\nFirst part.\nLoose words\nSub\nfoo bar\nText\nNext\na1 b2\nx\ny"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        # blocks
        ("<h1>a</h1>b", "a\nb"),
        ("a<h2>b</h2>c", "a\nb\nc"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>d", "a\nb\nc\nd"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>e", "a\nb\nc\nd\ne"),
        ("<div><div><div>a</div></div></div>b", "a\nb"),
        ("<span><div>a</div></span>b", "a\nb"),
        ("<a href=/x><h3>a</h3></a><span>b</span>", "a\nb"),
        ("<b>a<p>b</b>c", "a\nbc"),
        ("<div>a</div>  <!-- x --><i>b</i>", "a\nb"),
        ("<section>a</section><article>b</article><aside>c</aside>", "a\nb\nc"),
        ("a<hr>b<blockquote>c</blockquote>d", "a\nb\nc\nd"),
        ("<form>a<fieldset><legend>b</legend>c</fieldset></form>", "a\nb\nc"),
        ("<details><summary>a</summary>b</details>", "a\nb"),
        ("<figure>a<figcaption>b</figcaption></figure>", "a\nb"),
        ("<select><option>a<option>b</select>", "a\nb"),
        ("a<center>b</center>c<address>d</address>", "a\nb\nc\nd"),
        # inline
        ("<p>fo<b>o</b><i>b</i>ar", "foobar"),
        ("<b>a</b> <i>b</i>", "a b"),
        ("<b>a </b><i> b</i>", "a b"),
        ("<p>H<sub>2</sub>O x<sup>2</sup>", "H2O x2"),
        ("<span>a<span>b<span>c</span></span></span>d", "abcd"),
        ("<p><em><strong>D</strong></em>rop", "Drop"),
        ("un<wbr>breakable", "unbreakable"),
        ("soft<img alt=no src=x>ware", "software"),
        ("<x-tag>a</x-tag>b", "ab"),
        ("a<!-- no -->b", "ab"),
        ("<a href=/1>a</a><a href=/2>b</a>", "ab"),
        # lines and cells
        ("a<br>b<br/>c<br><br>d</br>e", "a\nb\nc\nd\ne"),
        ("<p>a<b>b<br>c</b>d", "ab\ncd"),
        ("<table><tr><th>a<th>b<tr><td>c<td>d</table>e", "a b\nc d\ne"),
        ("<table><caption>t</caption><thead><tr><td>a</td><td><p>b</p></td></tr></table>", "t\na\nb"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "a b c"),
        ("<table>loose<tr><td>a</table>", "loose\na"),
        ("<button>a</button><button>b</button>", "a b"),
        # white space
        ("  a \n\t b&nbsp;c\r\nd  ", "a b c d"),
        ("<p>a</p>\n\n\n<p> </p><p></p><p>b</p>", "a\nb"),
        ("a\0b", "ab"),
        ("a&#10;b", "a b"),
        ("中&#x3000;文", "中\u3000文"),
        # <pre>
        ("a<pre>b\n  c\td\n\ne </pre>f", "a\nb\n  c\td\ne \nf"),
        ("<pre>\nfirst\n</pre>", "first"),
        ("<pre><span>d</span><span>ef</span> x:\n    <b>y</b></pre>", "def x:\n    y"),
        ("<pre>a<br>b<div>c</div></pre>", "a\nb\nc"),
        ("<pre> \n </pre>a", "a"),
        ("<pre>a<pre>b</pre>c</pre>d", "a\nb\nc\nd"),
        ("<pre>a<script>no</script></pre>", "a"),
        ("<p>a\n b<pre>c\n d</pre>e\n f", "a b\nc\n d\ne f"),
        # what is not text
        ("<title>no</title><style>no</style>a<script>no</script>b", "ab"),
        ("<svg><title>no</title><text>no</text></svg>a", "a"),
        ("<template>no</template><textarea>no</textarea><iframe>no</iframe><noframes>no</noframes>a", "a"),
        ("<video>no<p>no</p></video><audio>no</audio><canvas>no</canvas><object>yes</object>", "yes"),
        ("<noscript>yes</noscript>", "yes"),
        ("<p hidden>no<div hidden>no<p>no</div>a<i hidden>no</i>b", "ab"),
        ("<div style='color:red; DISPLAY : none'>no<b>no</b></div>a<p style='x-display:none'>b", "a\nb"),
        ("<div hidden><p hidden>no</p></div>a<div hidden=until-found>b</div>", "a\nb"),
        ("<body style='display:none' hidden>a", "a"),
        ("<input type=hidden value=no>a", "a"),
        ("<frameset><frame src=x></frameset>", ""),
        ("", ""),
        ("a", "a"),
    ],
)
def test_the_visible_text(html: str, text: str) -> None:
    assert text_of(html) == text


@pytest.mark.slow
@pytest.mark.parametrize(
    "tag", ["<div>", "<span>", "<pre>", "<b><pre>", "<svg>", "<x-y>", "<td>", "<div hidden>", "<table>"]
)
def test_deep_nesting_is_survived(tag: str) -> None:
    assert text_of(tag * 100_000 + "end") in {"end", ""}


@given(
    st.lists(
        st.sampled_from(["<p>", "</p>", "<b>", "</b>", "<pre>", "</pre>", "<br>", "<td>", "<svg>", " ", "\n", "w"])
    )
)
def test_the_words_of_a_page_are_all_there_and_lines_are_clean(pieces: list[str]) -> None:
    text = text_of("".join(pieces))
    assert "<svg>" in pieces or text.count("w") == pieces.count("w")
    assert not any(mark in text for mark in "\0\1\2\3")
    assert "<pre>" in pieces or all(line and line == " ".join(line.split()) for line in text.split("\n") if text)


def test_the_main_text_leaves_navigation_out_and_says_things_once() -> None:
    article = "".join(
        f"<p>Sentence number {n} of an article that is long enough to be the main content.</p>" for n in range(9)
    )
    html = (
        f"<body><nav><a href=/1>Menu entry</a></nav><main><article>{article}</article></main><footer>Imprint</footer>"
    )
    text = main_text(parse_document(html))
    assert text.count("Sentence number 4") == 1
    assert "Menu entry" not in text


def test_the_main_text_of_garbage_is_some_text() -> None:
    assert main_text(parse_document("")) == ""
    assert isinstance(main_text(parse_document("<div>" * 20_000 + "\ufffd\0<p>x")), str)
