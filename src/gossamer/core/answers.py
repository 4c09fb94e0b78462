"""From an HTTP answer to an outcome. What the outcome does to the URL is `url_life`, to the host `politeness`."""

from gossamer.core.http_message import Fields, field_values
from gossamer.core.outcome import Failed, Fetched, Outcome, Reason, Redirected, ServerFailed, Throttled, Truncation
from gossamer.core.redirects import CHAIN_MAX, is_redirect, redirect_target
from gossamer.core.retry_after import parse_retry_after


def outcome_of_answer(status: int, fields: Fields, truncated: Truncation | None, url: str, now: float) -> Outcome:
    """What an answered request amounts to (RFC 9110 section 15). `now` in seconds since 1970, for Retry-After dates."""
    if 200 <= status < 300:
        return Fetched(status, truncated)
    if is_redirect(status):
        target = redirect_target(fields, url)
        return Failed(status, target) if isinstance(target, Reason) else Redirected(status, target)
    if status in (429, 503):
        return Throttled(status, _retry_after_s(fields, now))
    if 500 <= status < 600:
        return ServerFailed(status)
    if 300 <= status < 500:
        return Failed(status)
    return Failed(status, Reason.STATUS_UNKNOWN)


def within_chain(outcome: Outcome, redirects: int) -> Outcome:
    """The same outcome, or a failure where it would be redirect number CHAIN_MAX + 1 in a row."""
    if isinstance(outcome, Redirected) and redirects >= CHAIN_MAX:
        return Failed(outcome.status, Reason.REDIRECT_CHAIN_TOO_LONG)
    return outcome


def _retry_after_s(fields: Fields, now: float) -> float | None:
    values = field_values(fields, "retry-after")
    return parse_retry_after(values[0], now) if values else None
