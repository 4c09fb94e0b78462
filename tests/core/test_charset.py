import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.core.charset import Decoded, decode_html, decode_text, header_charset

CHARSETS_OF_THE_WEST = {"windows-1252"}
RUSSIAN = "Привет, это обычный текст на русском языке, который нужен для проверки."


def test_a_byte_order_mark_beats_the_header__h_charset_01() -> None:
    body = bytes.fromhex("efbbbfd09fd180d0b8d0b2d0b5d182")
    assert decode_html(body, "text/html; charset=windows-1251") == Decoded("UTF-8", "Привет")


def test_latin_1_is_windows_1252_with_all_its_octets__h_charset_02() -> None:
    body = bytes.fromhex("9368699420802081")
    assert decode_html(body, "text/html; charset=ISO-8859-1") == Decoded("windows-1252", "“hi” € \x81")


def test_a_declaration_beyond_the_prescan_counts__h_charset_03() -> None:
    head = b"<html><head><!-- " + b"x" * 5_000 + b' --><meta charset="utf-8"><title>'
    decoded = decode_html(head + bytes.fromhex("d985d8b1d8add8a8d8a7") + b"</title>", "text/html")
    assert decoded.charset == "UTF-8"
    assert "مرحبا" in decoded.text


def test_a_late_declaration_of_a_legacy_charset_counts() -> None:
    head = (
        b"<head><script>" + b"var a=1;" * 1_000 + b"</script><meta http-equiv=content-type content='a;charset=gb2312'>"
    )
    assert decode_html(head + "中文".encode("gbk"), None).charset == "GBK"
    assert decode_html(head + "中文".encode("gbk"), None).text.endswith("中文")


@pytest.mark.parametrize(
    "hidden",
    [
        b"<!-- %s -->",
        b"<script>document.write('%s')</script>",
        b"<SCRIPT >'%s'</SCRIPT >",
        b"<style>%s</style>",
        b"<title>%s</title>",
        b"<textarea>%s</textarea>",
    ],
)
def test_a_late_declaration_that_is_no_element_does_not_count(hidden: bytes) -> None:
    body = b"x" * 2_000 + hidden.replace(b"%s", b"<meta charset=koi8-r>") + "é".encode() * 9
    assert decode_html(body, None).charset == "UTF-8"


@pytest.mark.parametrize(("mark", "codec"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")])
def test_a_utf_16_mark_is_not_part_of_the_text(mark: bytes, codec: str) -> None:
    decoded = decode_html(mark + "<p>ж".encode(codec), "text/html; charset=utf-8")
    assert decoded.text == "<p>ж"
    assert decoded.charset == f"UTF-{codec[4:].upper().replace('-', '')}"


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; charset=utf-8", "UTF-8"),
        ('text/html; charset="Shift_JIS"', "Shift_JIS"),
        ("text/html; charset='koi8-r'", "KOI8-R"),
        ("text/html;CHARSET = EUC-KR ; x=y", "EUC-KR"),
        ("text/html; charset=nonsense; charset=big5", "Big5"),
        ("text/html; charset=utf-8, text/html; charset=koi8-r", "UTF-8"),
        ("text/html; x-charset=koi8-r", None),
        ("text/html; charset=", None),
        ("text/html; charset=nonsense", None),
        ("charset=utf-8", "UTF-8"),
        ("", None),
        (None, None),
        ("text/html; charset=utf-16", "UTF-16LE"),
    ],
)
def test_the_charset_of_a_header(content_type: str | None, charset: str | None) -> None:
    assert header_charset(content_type) == charset


@pytest.mark.parametrize(
    ("head", "charset"),
    [
        (b"<meta charset=koi8-r>", "KOI8-R"),
        (b"<META CharSet='KOI8-R'/>", "KOI8-R"),
        (b"<meta/charset=koi8-r/>", "windows-1252"),  # an unquoted value takes the slash: no such label
        (b"<meta name=x content=y charset = koi8-r >", "KOI8-R"),
        (b"<meta http-equiv=Content-Type content='text/html; charset=koi8-r'>", "KOI8-R"),
        (b"<meta content='text/html; charset=koi8-r' http-equiv=CONTENT-TYPE>", "KOI8-R"),
        (b"<meta http-equiv=content-type content='text/html; charset=\"koi8-r\"'>", "KOI8-R"),
        (b"<meta http-equiv=content-type content='charset = koi8-r; x'>", "KOI8-R"),
        (b"<meta content='text/html; charset=koi8-r'>", "windows-1252"),
        (b"<meta http-equiv=refresh content='0; charset=koi8-r'>", "windows-1252"),
        (b"<meta charset=nonsense><meta charset=koi8-r>", "KOI8-R"),
        (b"<meta charset=utf-16>", "UTF-8"),
        (b"<meta charset=utf-16be>", "UTF-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<!-- <meta charset=utf-8> --><meta charset=koi8-r>", "KOI8-R"),
        (b"<!--><meta charset=koi8-r>", "KOI8-R"),
        (b"<p title='<meta charset=utf-8>'><meta charset=koi8-r>", "KOI8-R"),
        (b"</p title='<meta charset=utf-8>'><meta charset=koi8-r>", "KOI8-R"),
        (b"<? a ><! b ></ c><meta charset=koi8-r>", "KOI8-R"),
        (b"<metadata charset=utf-8><meta charset=koi8-r>", "KOI8-R"),
        (b"<?xml version='1.0' encoding='koi8-r'?><html>", "KOI8-R"),
        (b"<?xml version='1.0' encoding='koi8-r'?><meta charset=utf-8>", "UTF-8"),
        (b"<meta charset='koi8-r", "windows-1252"),
        (b"<meta", "windows-1252"),
        (b"", "windows-1252"),
        (b"<meta charset=iso-2022-kr>", "replacement"),
    ],
)
def test_a_declaration_in_the_document(head: bytes, charset: str) -> None:
    assert decode_html(head, "text/html").charset == charset


def test_the_header_beats_the_document() -> None:
    assert decode_html(b"<meta charset=koi8-r>\xe9", "text/html; charset=utf-8") == Decoded(
        "UTF-8", "<meta charset=koi8-r>\ufffd"
    )


@pytest.mark.parametrize(
    ("text", "codec", "charset"),
    [
        ("café über", "utf-8", "UTF-8"),
        ("plain", "ascii", "windows-1252"),
        ("café", "cp1252", "windows-1252"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8_r", "KOI8-R"),
        ("これは日本語のテキストです。文字コードの判定を確認する。", "cp932", "Shift_JIS"),
        ("これは日本語のテキストです。文字コードの判定を確認する。", "euc_jp", "EUC-JP"),
        ("これは日本語", "iso2022_jp", "ISO-2022-JP"),
        ("这是一个中文文本，用于测试字符编码检测。欢迎来到我们的网站。", "gb18030", "gb18030"),
        ("這是一個中文文本，用於測試字符編碼檢測。歡迎來到我們的網站。", "big5", "Big5"),
        ("이것은 한국어 텍스트입니다. 문자 인코딩 감지를 테스트합니다.", "cp949", "EUC-KR"),
        ("Αυτό είναι ένα ελληνικό κείμενο για έλεγχο της κωδικοποίησης.", "iso8859_7", "ISO-8859-7"),
        ("هذا نص عربي لاختبار اكتشاف ترميز الأحرف في موقعنا", "cp1256", "windows-1256"),
        ("זהו טקסט בעברית לבדיקת זיהוי קידוד תווים באתר שלנו.", "cp1255", "windows-1255"),
        ("Zażółć gęślą jaźń. To jest zwykły polski tekst do sprawdzenia kodowania.", "cp1250", "windows-1250"),
    ],
)
def test_undeclared_octets_are_recognised(text: str, codec: str, charset: str) -> None:
    page = f"<html><title>{text}</title><p>{text}</p><a href=/x>link</a></html>"
    assert decode_html(page.encode(codec), None) == Decoded(charset, page)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_undeclared_utf_8_that_is_cut_or_has_a_fault_stays_utf_8(cut: int) -> None:
    text = RUSSIAN + "𝄞"
    assert decode_html(text.encode()[:-cut], None) == Decoded("UTF-8", RUSSIAN + "\ufffd")
    assert decode_html(RUSSIAN.encode() + b"\xff" + RUSSIAN.encode(), None).charset == "UTF-8"


def test_plain_text_has_no_declarations_in_it() -> None:
    assert decode_text(b"<meta charset=koi8-r>\xe9", None) == Decoded("windows-1252", "<meta charset=koi8-r>é")
    assert decode_text(b"\xef\xbb\xbfa", "text/plain; charset=koi8-r") == Decoded("UTF-8", "a")
    assert decode_text("жук".encode("koi8_r"), "text/plain; charset=koi8-r") == Decoded("KOI8-R", "жук")


def test_ascii_in_an_encoding_of_its_own_is_still_decoded() -> None:
    assert decode_html(b"\x1b$BF|\x1b(B", "text/html; charset=iso-2022-jp") == Decoded("ISO-2022-JP", "日")
    assert decode_html(b"abc", "text/html; charset=hz-gb-2312") == Decoded("replacement", "\ufffd")


@given(st.binary(max_size=300), st.one_of(st.none(), st.text(max_size=40), st.just("text/html; charset=utf-16")))
def test_any_octets_become_a_text_that_utf_8_can_hold(body: bytes, content_type: str | None) -> None:
    text = decode_html(body, content_type).text
    assert text.encode("utf-8").decode("utf-8") == text


@pytest.mark.parametrize(
    "piece",
    [b"<!--", b"<meta ", b"<meta charset", b"<meta charset='", b"<a b", b"<script>charset", b"<", b"\xe9charset"],
)
def test_hostile_declarations_end(piece: bytes) -> None:
    assert decode_html(piece * (200_000 // len(piece)), None).charset in CHARSETS_OF_THE_WEST
