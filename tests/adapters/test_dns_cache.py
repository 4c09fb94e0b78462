from gossamer.adapters.dns.cache import DnsCache
from gossamer.core.outcome import Reason
from gossamer.ports.dns import Resolved, Unresolved

HERE = Resolved(("192.0.2.10",))


def test_an_answer_is_known_until_its_end() -> None:
    cache = DnsCache(10)
    cache.put("a.test", HERE, 100.0)
    assert cache.get("a.test", 99.9) is HERE
    assert cache.get("a.test", 100.0) is None
    assert len(cache) == 0


def test_a_later_answer_replaces_an_earlier_one() -> None:
    cache = DnsCache(10)
    cache.put("a.test", Unresolved(Reason.DNS_FAILED), 100.0)
    cache.put("a.test", HERE, 50.0)
    assert cache.get("a.test", 10.0) is HERE
    assert cache.get("a.test", 60.0) is None


def test_the_name_longest_unused_goes_first_when_the_cache_is_full() -> None:
    cache = DnsCache(2)
    cache.put("a.test", HERE, 100.0)
    cache.put("b.test", HERE, 100.0)
    assert cache.get("a.test", 1.0) is HERE
    cache.put("c.test", HERE, 100.0)
    assert len(cache) == 2
    assert cache.get("b.test", 1.0) is None
    assert cache.get("a.test", 1.0) is HERE
    assert repr(cache) == "<DnsCache 2 of 2>"
