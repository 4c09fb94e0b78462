"""The cache in front of `seen`: it may forget, but never what no batch has made durable yet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gossamer.stages.recent_keys as module
from gossamer.stages.recent_keys import RecentKeys


def test_keys_are_known_once_they_were_added() -> None:
    recent = RecentKeys()
    assert recent.unknown([b"a", b"b"]) == [0, 1]
    assert recent.add(b"a") is True
    assert recent.add(b"a") is False
    assert recent.unknown([b"a", b"b", b"a"]) == [1]


def test_a_full_generation_is_kept_for_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GENERATION_MAX", 2)
    recent = RecentKeys()
    for key in (b"a", b"b"):
        recent.add(key)
    recent.turn()
    assert recent.unknown([b"a", b"b", b"c"]) == [2]
    recent.turn()  # the young one is not full: nothing is forgotten
    assert recent.unknown([b"a"]) == []
    for key in (b"c", b"d"):
        recent.add(key)
    recent.turn()
    assert recent.unknown([b"a", b"b", b"c", b"d"]) == [0, 1]


@given(st.lists(st.lists(st.binary(min_size=1, max_size=2), max_size=8), max_size=12))
def test_nothing_is_forgotten_within_a_batch_nor_by_the_next_turn(batches: list[list[bytes]]) -> None:
    recent = RecentKeys()
    for batch in batches:
        recent.turn()
        for key in batch:
            if recent.unknown([key]):
                assert recent.add(key)
        assert recent.unknown(batch) == []
        recent.turn()
        assert recent.unknown(batch) == []
