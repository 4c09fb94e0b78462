"""How the value of a setting is read, from text or TOML; ValueError or OSError is a fault of the value."""

import re
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from gossamer.core.connect_to import ConnectTo, parse_connect_to

NO_LIMIT = "none"


def number(low: float, high: float) -> Callable[[Any], float]:
    """A number between both, inclusive; no NaN."""

    def read(raw: Any) -> float:
        value = float(raw)
        if isinstance(raw, bool) or not low <= value <= high:  # also refuses NaN
            raise ValueError
        return value

    return read


def integer(low: int, high: int) -> Callable[[Any], int]:
    """A whole number between both, inclusive; 1_000 and 1,000 are fine."""

    def read(raw: Any) -> int:
        if isinstance(raw, bool | float):
            raise ValueError  # noqa: TRY004  one kind of fault for the caller
        value = int(str(raw).replace("_", "").replace(",", ""))
        if not low <= value <= high:
            raise ValueError
        return value

    return read


def or_none(read: Callable[[Any], int]) -> Callable[[Any], int | None]:
    """Also the word that takes a limit away which was set elsewhere: in a file, or when the crawl began."""
    return lambda raw: None if raw == NO_LIMIT else read(raw)


def choice(*names: str) -> Callable[[Any], str]:
    """One of these words."""

    def read(raw: Any) -> str:
        if raw not in names:
            raise ValueError
        return str(raw)

    return read


def switch(raw: Any) -> bool:
    """A yes or no in the usual spellings."""
    if isinstance(raw, bool):
        return raw
    return {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False, "0": False}[
        str(raw).lower()
    ]


def pattern(raw: Any) -> re.Pattern[str]:
    """A regular expression."""
    try:
        return re.compile(str(raw))
    except re.error as error:
        raise ValueError(str(error)) from error


def product(raw: Any) -> str:
    """A product token as robots.txt and User-Agent have it."""
    if not re.fullmatch(r"[A-Za-z_-]{1,64}", str(raw)):
        raise ValueError
    return str(raw)


def contact(raw: Any) -> str:
    """Where the operator can be reached."""
    if not re.fullmatch(r"(https?://|mailto:)?[^\s()<>\x00-\x1f\x7f-\U0010ffff]{3,200}", str(raw)):
        raise ValueError
    return str(raw)


def robots(raw: Any) -> frozenset[str]:
    """Hosts for which robots.txt is off; empty under 'obey'."""
    if raw == "obey":
        return frozenset()
    hosts = str(raw).removeprefix("off-for=").split(",") if str(raw).startswith("off-for=") else []
    if not hosts or not all(re.fullmatch(r"[a-z0-9._:\[\]-]+", host.lower()) for host in hosts):
        raise ValueError
    return frozenset(host.lower() for host in hosts)


def connect_to(raw: Any) -> ConnectTo:
    """A mapping as curl's."""
    entry = parse_connect_to(str(raw))
    if isinstance(entry, str):
        raise ValueError(entry)  # noqa: TRY004  the sentence is the fault
    return entry


def network(raw: Any) -> Any:
    """An IP network."""
    return ip_network(str(raw), strict=False)


def readable_file(raw: Any) -> str:
    """The path of a file that can be read."""
    with Path(str(raw)).open("rb") as file:  # OSError is a fault of the value, as ValueError is
        file.read(1)
    return str(raw)
