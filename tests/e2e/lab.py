"""A lab web to crawl: the command line for it, without a pace of its own."""

from gossamer.testing.lab_process import LabDescription


def lab_words(lab: LabDescription) -> list[str]:
    """`crawl` of the lab's seeds, with the routes to it."""
    return ["crawl", *lab.seeds, *lab_routes(lab)]


def lab_routes(lab: LabDescription) -> list[str]:
    """The options that lead to the lab."""
    routes = [word for rule in lab.connect_to for word in ("--connect-to", rule)]
    return [*routes, "--allow-address", lab.allow_address]
