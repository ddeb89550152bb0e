"""The causes of a verdict as a tree: a root cause, and what follows from it. Called where an answer is put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.render.clean import one_line
from bot.render.pictures.picture import Branch, Picture, Tree
from bot.render.pictures.plain_name import plain_name
from bot.render.subject import short
from handlers.model import Diagnosis, Finding, Ranked
from runbooks.library import Library

MOST_BRANCHES = 10
"""More would be smaller than a phone shows well."""
MOST_DEEP = 4
MOST_NAMED = 6
FEWEST_FOLLOWING = 3
"""Of fewer the text says as much at a glance."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Row:
    """Findings of one code under one cause."""

    depth: int
    findings: tuple[Finding, ...]


def causes_of(diagnosis: Diagnosis, library: Library) -> Picture | None:
    """The tree; None where few findings follow from others: the text shows those as well."""
    rows = list(_rows(diagnosis))
    if sum(len(row.findings) for row in rows if row.depth) < FEWEST_FOLLOWING:
        return None
    branches = [_branch(row, library) for row in rows[:MOST_BRANCHES]]
    if len(rows) > MOST_BRANCHES:
        branches.append(Branch(1, f"and {len(rows) - MOST_BRANCHES} more in the answer above"))
    tree = Tree(f"{diagnosis.target.name}: what causes what", tuple(branches))
    return Picture(f"causes-{plain_name(diagnosis.target.name)}.png", described(tree), tree)


def described(tree: Tree) -> str:
    """The same in words."""
    path: list[str] = []
    told = []
    for branch in tree.branches:
        named = f"{branch.title} ({branch.subject})" if branch.subject else branch.title
        told.append(f"Root cause: {named}." if branch.depth == 0 else f"{path[branch.depth - 1]} leads to: {named}.")
        path[branch.depth :] = [branch.title]
    return f"{tree.title}. {' '.join(told)}"


def _rows(diagnosis: Diagnosis) -> Iterator[_Row]:
    """Roots that something follows from, each with its consequences below it, none twice."""
    causes = {ranked.finding.key: [_key(cause) for cause in ranked.explained_by] for ranked in diagnosis.findings}
    following: dict[Key, list[Ranked]] = {}
    for ranked in diagnosis.findings:
        for cause in _nearest(ranked.finding.key, causes):
            following.setdefault(cause, []).append(ranked)
    for ranked in diagnosis.findings:
        if ranked.root and ranked.finding.key in following:
            yield _Row(0, (ranked.finding,))
            yield from _below((ranked.finding,), 1, following)


def _key(cause: Key) -> Key:
    return cause[0], cause[1].lower()


def _nearest(key: Key, causes: dict[Key, list[Key]]) -> list[Key]:
    """The cause under which it is drawn: one that explains none of its other causes."""
    mine = causes[key]
    direct = [cause for cause in mine if not any(cause in causes.get(other, ()) for other in mine if other != cause)]
    return (direct or mine)[:1]


def _below(causes: tuple[Finding, ...], depth: int, following: dict[Key, list[Ranked]]) -> Iterator[_Row]:
    by_code: dict[str, list[Finding]] = {}
    for cause in causes:
        for ranked in following.pop(cause.key, ()):
            by_code.setdefault(ranked.finding.code, []).append(ranked.finding)
    for findings in by_code.values():
        yield _Row(depth, tuple(findings))
        if depth < MOST_DEEP:
            yield from _below(tuple(findings), depth + 1, following)


def _branch(row: _Row, library: Library) -> Branch:
    first = row.findings[0]
    runbook = library.get(first.code)
    title = one_line(runbook.title if runbook else first.code)
    names = ", ".join(one_line(short(finding.subject)) for finding in row.findings[:MOST_NAMED])
    times = f"\u00a0×\u00a0{len(row.findings)}" if len(row.findings) > 1 else ""
    return Branch(row.depth, f"{title}{times}", names)
