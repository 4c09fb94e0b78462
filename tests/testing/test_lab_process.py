"""The lab as a process of its own and as the command `gossamer lab`."""

import http.client
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from gossamer.surfaces.cli.lab import lab
from gossamer.testing.lab_access import read_access_log
from gossamer.testing.lab_hosts import Fate, LabConfig, Profile
from gossamer.testing.lab_process import LabDidNotStart, LabOptions, describe, running_lab
from gossamer.testing.lab_web import LabWeb

COMMAND = [sys.executable, "-c", "from gossamer.surfaces.cli.lab import lab; lab()"]


def fetch(address: str, port: int, host: str, target: str = "/") -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(address, port, timeout=10)
    connection.request("GET", target, headers={"Host": host})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


@pytest.mark.slow
def test_a_running_lab_answers_on_every_address_and_leaves_a_whole_log(tmp_path: Path) -> None:
    log = tmp_path / "access.jsonl"
    with running_lab(LabOptions(addresses=3, access_log=str(log))) as running:
        told = running.description
        assert told.addresses == ["127.0.1.1", "127.0.1.2", "127.0.1.3"]
        answers = [fetch(address, told.port, "site00.test") for address in told.addresses]
        assert {status for status, _ in answers} == {200}
        assert len({body for _, body in answers}) == 1
    assert [record.address for record in read_access_log(log)] == told.addresses
    with pytest.raises(ConnectionRefusedError):
        fetch("127.0.1.1", told.port, "site00.test")


@pytest.mark.slow
def test_a_lab_that_cannot_start_says_why() -> None:
    with (
        running_lab(LabOptions(addresses=1)) as running,
        pytest.raises(LabDidNotStart, match="in use"),
        running_lab(LabOptions(addresses=1, port=running.description.port)),
    ):
        pytest.fail("two labs on one port")


@pytest.mark.slow
def test_a_dead_host_resets_on_the_servers_own_loop_too() -> None:
    config = LabConfig(profile=Profile.POLITE, hosts=2, dead_share=0.5)
    dead = next(plan.name for plan in LabWeb(config).plans if plan.fate is Fate.RESETS)
    with running_lab(LabOptions(config=config)) as running, pytest.raises(ConnectionResetError):
        fetch("127.0.1.1", running.description.port, dead)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_prints_one_json_document_and_ends_well_when_told_to(number: signal.Signals) -> None:
    with subprocess.Popen([*COMMAND, "--json", "--addresses", "2"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        assert fetch(told["addresses"][1], told["port"], "site00.test")[0] == 200
        process.send_signal(number)
        assert process.wait(10) == 0
    assert set(told) >= {"port", "addresses", "seeds", "connectTo", "allowAddress", "pages"}
    assert told["connectTo"][0] == f"site00.test::127.0.1.1:{told['port']}"
    assert told["pages"] == LabWeb(LabConfig()).page_total()


@pytest.mark.slow
def test_the_command_prints_the_crawl_to_run() -> None:
    with subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        printed = b""
        while b"*::127.0.1.1" not in printed:
            chunk = os.read(process.stdout.fileno(), 65_536)
            assert chunk
            printed += chunk
        process.terminate()
    assert printed.startswith(b"gossamer crawl http://site00.test/ ")
    assert b"--allow-address 127.0.0.0/8" in printed


def test_every_host_keeps_its_address_and_made_up_names_go_to_the_first() -> None:
    web = LabWeb(LabConfig(profile=Profile.POLITE, hosts=5))
    told = describe(web, ["127.0.1.1", "127.0.1.2"], 8080)
    assert [rule.split(":")[2] for rule in told.connect_to] == [f"127.0.1.{n}" for n in (1, 2, 1, 2, 1, 1)]
    assert told.connect_to[-1] == "*::127.0.1.1:8080"
    assert describe(web, ["127.0.1.1"], 8080).connect_to == ["*::127.0.1.1:8080"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--first-address", "0.0.0.0"], "127.0.0.0/8"),
        (["--first-address", "10.0.0.1"], "127.0.0.0/8"),
        (["--addresses", "0"], "addresses"),
        (["--hosts", "0"], "--hosts"),
        (["--pages", "-3"], "--pages must"),
        (["--profile", "rude"], "rude"),
        (["--port", "70000"], "70000"),
        (["--latency", "2", "1"], "latency"),
        (["--dead", "0.8", "--stalling", "0.8"], "--dead and --stalling"),
    ],
)
def test_a_wrong_option_is_a_usage_error_that_names_it(arguments: list[str], word: str) -> None:
    result = CliRunner().invoke(lab, arguments)
    assert result.exit_code == 2
    assert word in result.output


def test_a_taken_log_path_is_the_machines_fault(tmp_path: Path) -> None:
    result = CliRunner().invoke(lab, ["--access-log", str(tmp_path / "missing" / "log")])
    assert result.exit_code == 3
    assert "No such file" in result.output
