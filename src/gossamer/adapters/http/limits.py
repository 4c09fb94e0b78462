"""What one exchange may cost in time and octets. Time is bounded per phase by the reader of these, `connection`."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """Every bound of the client; all of them above zero, except that no idle connection may be kept.

    total_timeout_s counts from the call, connecting included. An answer is too slow when a window of slow_window_s
    brings fewer than slow_bytes_per_s × slow_window_s octets. Octets are those of the wire, framing included.
    """

    connect_timeout_s: float = 10.0  # TCP and TLS together
    first_byte_timeout_s: float = 30.0  # slow pages are built in 10 to 20 s; what takes longer is down
    total_timeout_s: float = 120.0
    slow_window_s: float = 20.0
    slow_bytes_per_s: float = 100.0  # a modem of 1985 is faster
    head_bytes_max: int = 64 * 1024
    body_bytes_max: int = 10 * 2**20
    informational_max: int = 8
    idle_connections_max: int = 256  # beside 1,000 busy ones this stays within what most systems allow
    idle_timeout_s: float = 4.0  # Apache and Node close after 5
    idle_timeout_max_s: float = 60.0  # however long a server offers to wait

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0 or (value == 0 and field.name not in ("idle_connections_max", "informational_max")):
                raise ValueError(f"{field.name} must be above 0, got {value}")
