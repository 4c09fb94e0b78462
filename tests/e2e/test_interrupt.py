"""Asked to stop, a crawl ends in good order and in time, says how to go on, and goes on there."""

import os
import signal
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bench.pydoc_sites import Walk
from tests.e2e.archives import assert_indexed, assert_warcio_approves, raw_segments, text_segments
from tests.e2e.docs import BRISK, Few
from tests.e2e.gossamer_command import assert_verified, by_outcome, gossamer, living
from tests.e2e.lab import lab_words

from gossamer.testing.lab_hosts import LabConfig, Profile
from gossamer.testing.lab_process import LabOptions, running_lab

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

INTERRUPTED = 130
STOP_MAX_S = 12.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_stopped_crawl_leaves_finished_files_and_goes_on(few: Few, walk: Walk, number: signal.Signals) -> None:
    with living([*few.words, *BRISK], few.data.parent) as life:
        few.await_fetches(life, 50)
        os.killpg(life.pid, number)  # a terminal sends Ctrl-C to the parsers too
        assert life.process.wait(STOP_MAX_S) == INTERRUPTED, life.err()
        assert "is stopped" in life.err()
        assert f"go on: gossamer crawl --data {few.data}" in life.err()
        assert "Traceback" not in life.err()
    assert_indexed(few.data)
    assert_warcio_approves([*raw_segments(few.data), *text_segments(few.data)])
    assert_verified(few.data)
    assert by_outcome(few.data)["ready"]
    done = few.goes_on()
    assert done.code == 0, done.err
    assert "goes on in" in done.err
    few.assert_whole(walk)
    asked = [fetch[:2] for fetch in few.served.fetches(few.since)]
    assert len(asked) == len(set(asked)), "an orderly stop repeats nothing"


def test_a_stop_waits_ten_seconds_for_an_answer_that_never_comes_and_a_second_one_does_not(tmp_path: Path) -> None:
    config = LabConfig(profile=Profile.POLITE, hosts=4, pages_per_host=40, stalling_share=0.25)
    with running_lab(LabOptions(config=config)) as lab:
        data = tmp_path / "data"
        words = [*lab_words(lab.description), *BRISK, "--data", str(data)]
        with living(words, tmp_path) as life:
            assert life.lives_for(2), life.err()
            life.process.send_signal(signal.SIGINT)
            assert life.lives_for(0.5), "it did not wait for the contact under way"
            life.process.send_signal(signal.SIGINT)
            assert life.process.wait(1) == INTERRUPTED
        with living(words, tmp_path) as life:
            assert life.lives_for(2), life.err()
            life.process.send_signal(signal.SIGINT)
            assert life.process.wait(STOP_MAX_S) == INTERRUPTED
            assert "Traceback" not in life.err()
    assert_indexed(data)
    assert_verified(data)
    assert len({urlsplit(url).netloc for url in by_outcome(data)["ready"]}) == 1, "only the host that never answers"


def test_two_stops_at_once_lose_nothing(few: Few, walk: Walk) -> None:
    with living([*few.words, *BRISK], few.data.parent) as life:
        few.await_fetches(life, 50)
        os.killpg(life.pid, signal.SIGINT)
        os.killpg(life.pid, signal.SIGINT)
        assert life.process.wait(STOP_MAX_S) == INTERRUPTED, life.err()
    done = few.goes_on()
    assert done.code == 0, done.err
    few.assert_whole(walk)


def test_a_stop_from_another_terminal_is_a_stop(few: Few, walk: Walk) -> None:
    with living([*few.words, *BRISK], few.data.parent) as life:
        few.await_fetches(life, 50)
        stop = gossamer("stop", "--data", str(few.data), cwd=few.data.parent)
        assert stop.code == 0, stop.err
        assert life.process.wait(STOP_MAX_S) == 0, life.err()
        assert "is stopped" in life.err()
    assert few.goes_on().code == 0
    few.assert_whole(walk)
