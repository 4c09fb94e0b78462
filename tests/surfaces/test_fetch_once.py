"""`gossamer.fetch_once`: one document from the web: redirects, addresses, codings, and ends that are no answer."""

import gzip

import pytest
from tests.surfaces.local_site import Reply, local_site

from gossamer import fetch_once as module
from gossamer.adapters.http.limits import FetchLimits
from gossamer.core.addresses import AddressRules, parse_networks
from gossamer.core.outcome import Denied, Failed, Fetched, Reason, Redirected, Unreachable
from gossamer.fetch_once import REDIRECTS_MAX, Answer, fetch_once

pytestmark = pytest.mark.e2e

LOOPBACK = AddressRules(parse_networks(["127.0.0.1/32"])[0])


def fetch(url: str, allow: AddressRules = LOOPBACK) -> Answer:
    return fetch_once(url, user_agent="testbot", allow=allow)


def to(target: str) -> Reply:
    return Reply(302, headers=(("Location", target),))


def test_a_document_comes_decoded_and_the_product_is_named() -> None:
    packed = Reply(200, gzip.compress(b"hello"), (("Content-Encoding", "gzip"),))
    with local_site({"/a?b": packed}) as site:
        answer = fetch(site.origin + "/a?b#c")
    assert answer == Answer(200, b"hello", Fetched(200))
    path, user_agent = site.asked[0]
    assert path == "/a?b"
    assert user_agent.startswith("testbot/")


@pytest.mark.parametrize(("status", "outcome"), [(404, Failed(404)), (410, Failed(410))])
def test_a_refusal_has_its_status_and_body(status: int, outcome: Failed) -> None:
    with local_site({"/": Reply(status, b"no")}) as site:
        assert fetch(site.origin) == Answer(status, b"no", outcome)


def test_as_many_redirects_as_allowed_are_followed_and_no_more() -> None:
    chain = {f"/{n}": to(f"/{n + 1}") for n in range(20)} | {f"/{REDIRECTS_MAX}": Reply(200, b"end")}
    with local_site(chain) as site:
        assert fetch(site.origin + "/0").body == b"end"
        del chain[f"/{REDIRECTS_MAX}"]
        chain[f"/{REDIRECTS_MAX}"] = to("/on")
        site.asked.clear()
        assert fetch(site.origin + "/0").outcome == Redirected(302, site.origin + "/on")
        assert len(site.asked) == REDIRECTS_MAX + 1


@pytest.mark.parametrize("host", ["127.0.0.2", "0", "[::1]", "[::ffff:127.0.0.2]", "169.254.169.254", "2130706434"])
def test_a_redirect_to_an_address_that_is_not_allowed_is_not_followed(host: str) -> None:
    with local_site({}) as site:
        port = site.origin.rpartition(":")[2]
        site.replies["/"] = to(f"http://{host}:{port}/inside")
        assert fetch(site.origin) == Answer(0, b"", Denied(Reason.ADDRESS_NOT_ALLOWED))
    assert [path for path, _ in site.asked] == ["/"]


def test_a_private_address_is_refused_without_a_contact() -> None:
    with local_site({"/": Reply(200)}) as site:
        assert fetch(site.origin, AddressRules()) == Answer(0, b"", Denied(Reason.ADDRESS_NOT_ALLOWED))
    assert site.asked == []


def test_silence_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMITS", FetchLimits(first_byte_timeout_s=0.05))
    with local_site({"/": Reply(0)}) as site:
        assert fetch(site.origin).outcome == Unreachable(Reason.FIRST_BYTE_TIMEOUT)


def test_nobody_listening_is_a_value() -> None:
    with local_site({}) as site:
        pass
    assert fetch(site.origin).outcome == Unreachable(Reason.CONNECT_REFUSED)


def test_a_body_is_cut_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMITS", FetchLimits(body_bytes_max=1_000))
    packed = Reply(200, gzip.compress(b"x" * 100_000), (("Content-Encoding", "gzip"),))
    with local_site({"/plain": Reply(200, b"x" * 5_000), "/packed": packed}) as site:
        assert [len(fetch(site.origin + path).body) for path in ("/plain", "/packed")] == [1_000, 1_000]


def test_what_is_no_url_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="scheme-not-supported"):
        fetch("file:///etc/passwd")
