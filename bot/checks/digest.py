"""What is new on a fleet since a moment, what was mended, and what ends soon: compared and told. Pure.

Called by `/aks digest`, `aksbot digest`, and each morning where the policy wants it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.checks.fleet import Checked
from bot.checks.fleet_lines import age, title_of
from bot.checks.store.verdicts import PastVerdict
from bot.render.verdict import count, not_checked
from handlers.model import Check, Diagnosis, Outcome
from handlers.problem import Problem
from runbooks.library import Library

_UNSURE = frozenset({Outcome.INCONCLUSIVE, Outcome.CRASHED})
_MOST_NAMED = 4


@dataclass(frozen=True, slots=True)
class ClusterNews:
    """One cluster then and now: codes of root causes, each once."""

    cluster: str
    new: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    lasting: tuple[str, ...] = ()
    first: bool = False
    """It was not checked before, so that nothing can be called new."""
    open_checks: int = 0
    """Checks that came to no result."""
    failed: bool = False
    """It could not be checked at all. Why says a check: a digest names no ids, as anybody may read it."""


@dataclass(frozen=True, slots=True)
class Digest:
    """All of it, as of a moment."""

    since: datetime
    at: datetime
    news: tuple[ClusterNews, ...]
    ending: tuple[str, ...] = ()
    """What ends within the day: mutes."""
    fixes: tuple[str, ...] = ()
    """Fixes that ended meanwhile."""


def news_of(checked: Checked, before: PastVerdict | None) -> ClusterNews:
    """What cannot be seen now is not mended."""
    name = checked.member.name
    if isinstance(checked.outcome, Problem):
        return ClusterNews(name, failed=True)
    diagnosis = checked.outcome.diagnosis
    now = PastVerdict.of(diagnosis, datetime.now(UTC), checked=not not_checked(diagnosis))
    then = before.found if before else frozenset()
    unsure = {code for check in diagnosis.checks if _is_unsure(check) for code in check.codes}
    all_found = {ranked.finding.key for ranked in diagnosis.findings}
    new = now.found - then if before else frozenset()
    return ClusterNews(
        name,
        new=_codes(now.codes, new),
        mended=tuple(sorted({code for code, subject in then - all_found if code not in unsure})),
        lasting=_codes(now.codes, now.found - new),
        first=before is None,
        open_checks=_open(diagnosis),
    )


def _codes(order: Iterable[str], found: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    these = {code for code, _ in found}
    return tuple(code for code in order if code in these)


def _is_unsure(check: Check) -> bool:
    return check.outcome in _UNSURE or bool(check.unseen)


def _open(diagnosis: Diagnosis) -> int:
    return sum(check.outcome in _UNSURE for check in diagnosis.checks)


def headline(digest: Digest) -> str:
    """`8 clusters in the last 24 h: 1 new problem, 2 mended`; where nothing is to be said, that."""
    new = sum(len(news.new) for news in digest.news)
    mended = sum(len(news.mended) for news in digest.news)
    lasting = sum(len(news.lasting) for news in digest.news)
    told = [
        f"{count(new, 'new problem')}" if new else "",
        f"{mended} mended" if mended else "",
        f"{lasting} as before" if lasting else "",
    ]
    clusters = count(len(digest.news), "cluster")
    if any(told):
        return f"{clusters} in the last {age(digest.at - digest.since)}: {', '.join(filter(None, told))}"
    if any(news.failed or news.open_checks for news in digest.news):
        return f"{clusters}: nothing new was found, but not everything could be looked at"
    return f"{clusters} checked, nothing is wrong and nothing new"


def parts(digest: Digest, library: Library) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each heading with its lines; what is empty is left out."""
    told: Mapping[str, Iterable[str]] = {
        "New": (_line(news.cluster, news.new, library) for news in digest.news if news.new),
        "Mended": (_line(news.cluster, news.mended, library) for news in digest.news if news.mended),
        "Fixes": digest.fixes,
        "As before": (_lasting(news, library) for news in digest.news if news.lasting),
        "Ends today": digest.ending,
        "Not looked at": (line for news in digest.news for line in _unseen(news)),
    }
    for heading, lines in told.items():
        if there := tuple(lines):
            yield heading, there


def _line(cluster: str, codes: tuple[str, ...], library: Library) -> str:
    titles = [title_of(code, library) for code in codes]
    more = [f"and {len(titles) - _MOST_NAMED} more"] if len(titles) > _MOST_NAMED else []
    return f"{cluster}: {', '.join([*titles[:_MOST_NAMED], *more])}"


def _lasting(news: ClusterNews, library: Library) -> str:
    first = " (first check, so since when is not known)" if news.first else ""
    return f"{_line(news.cluster, news.lasting, library)}{first}"


def _unseen(news: ClusterNews) -> Iterator[str]:
    if news.failed:
        yield f"{news.cluster}: could not be checked"
    elif news.open_checks:
        yield f"{news.cluster}: {count(news.open_checks, 'check')} came to no result"
