"""What `verify` says to people: the verdict, what it rests on, and each problem. Proving is of `views.verify`."""

from collections.abc import Iterator

from gossamer.surfaces.cli.printing import BOLD, pairs, printable, styled
from gossamer.views.verify import VerifyView


def verify_prose(view: VerifyView, *, is_quick: bool) -> Iterator[str]:
    """The verdict, what it rests on, and each problem."""
    verdict = styled("all accounts are right", {"fg": "green"})
    if view.problems_total:
        verdict = styled(f"{view.problems_total:,} problems", {"fg": "red"})
    yield f"{styled('crawl ' + view.crawl_id, BOLD)}  {verdict}"
    yield ""
    states = ", ".join(f"{count:,} {name}" for name, count in view.states.items() if count)
    records = "no record was read (--quick)" if is_quick else f"{view.records:,} records"
    rows = [
        ("URLs", f"{view.urls:,}  {states}"),
        ("sitemaps", f"{view.sitemaps:,}"),
        ("segments", f"{view.segments:,}  {records}"),
    ]
    if view.seen != "exact":
        rows.append(("seen", _filter(view)))
    if view.tail_bytes:
        what = "bytes behind what is committed: of a crawl that runs, or of one that was killed and will cut them"
        rows.append(("tail", f"{view.tail_bytes:,} {what}"))
    yield from pairs(rows)
    if view.problems:
        yield ""
    for problem in view.problems:
        yield f"  {printable(problem)}"
    if view.problems_total > len(view.problems):
        yield f"  and {view.problems_total - len(view.problems):,} more"


def _filter(view: VerifyView) -> str:
    """What was checked of it, and what can't be."""
    if view.seen_error is None:
        return "a filter that can't be read: nothing is known of it"
    lost = f"{view.seen_error:.2%} of new URLs"
    return f"a filter, which has each of these; it takes {lost} for known by now, and no check can find them"
