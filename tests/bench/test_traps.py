"""The bench tells traps from honest pages, and counts what a trap makes up as its own."""

from bench.process_tree import TreeCost
from bench.traps import counted, result

from gossamer.testing.lab_access import AccessRecord
from gossamer.testing.lab_hosts import LabConfig, Profile, Trap
from gossamer.testing.lab_web import LabWeb

COST = TreeCost(0, 10.0, 2.0, 2**27, 2**26, 2, 0)


def request(host: str, target: str = "/") -> AccessRecord:
    return AccessRecord(0, 1, 0, 1, host, "GET", target, "127.0.1.1", "127.0.0.1:9", 200, "", 10)


def test_fetches_are_told_apart_by_trap() -> None:
    web = LabWeb(LabConfig(profile=Profile.TRAPS))
    farm, calendar = "farm-0000abcd.test", web.plans[0].name
    seen = [request(farm, "/robots.txt"), request(farm), request(calendar, "/calendar/2024/1/")]
    seen += [request(calendar), request(calendar, "/robots.txt"), request("elsewhere-1.test")]
    found = counted(web, seen, 4, COST)
    assert {trap: count for trap, count in found.traps.items() if count} == {Trap.FARM: 2, Trap.CALENDAR: 1}
    assert (found.honest, found.other) == (2, 1)
    document = result(found)
    assert (document["pages"], document["trapShare"]) == (4, 0.5)
    assert document["trapFetches"]["farm"] == 2
