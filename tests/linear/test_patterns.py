"""Every pattern over outside text runs in linear time, and what still uses `re` says why."""

from __future__ import annotations

import ast
import gc
import importlib
import pkgutil
from pathlib import Path

import pytest

import bot
import handlers
import runbooks
from bot.triage.literals import needs
from bot.triage.recognise import Recogniser
from runbooks.library import Library
from runbooks.linear import Pattern, compile_linear
from runbooks.patterns import searchable
from runbooks.values import ANYWHERE, UNLESS
from tests.linear.growth import not_linear, shapes

PACKAGES = (bot, handlers, runbooks)
ROOT = Path(__file__).parents[2]
LEARNING = ("bot.triage.learning.learn",)
"""Modules that need packages installed only for training."""

OURS = "only files of ours or of a team's folder are read with it, by whoever starts the bot"
SHORT = "names, addresses and moments of a few dozen characters, each repeat of one kind of letter"
ITSELF = "the one place that knows RE2, and what it needs beside it"
MAY_USE_RE = {
    "runbooks/linear.py": ITSELF,
    "runbooks/patterns.py": "a team's pattern that RE2 refuses, over a few hundred characters; and runbooks themselves",
    "runbooks/head.py": OURS,
    "runbooks/lint.py": OURS,
    "runbooks/library.py": OURS,
    "runbooks/commands.py": OURS,
    "runbooks/conditions.py": OURS,
    "runbooks/placeholder.py": OURS,
    "runbooks/template.py": OURS,
    "runbooks/put_in.py": "one kind of letter at a time, or at the beginning of a text only",
    "bot/report/catalogue.py": OURS,
    "bot/cli/policy.py": OURS,
    "bot/drill/repair.py": OURS,
    "bot/triage/literals.py": "reads patterns, and searches no text",
    "bot/incidents/mutes.py": SHORT,
    "bot/slack/fixes/lists/audit_pages.py": SHORT,
    "bot/render/proof.py": "one mark at the beginning of a line",
    "bot/slack/checks/thread.py": "one mark at the beginning of a line",
    "bot/slack/checks/cases.py": SHORT,
    "bot/slack/checks/report_file.py": SHORT,
    "bot/slack/triage/listeners.py": "the ids of our own buttons",
    "bot/slack/incidents/listeners.py": "the ids of our own buttons",
    "bot/slack/home/listeners.py": "the ids of our own buttons",
    "bot/slack/listeners.py": "the ids of our own buttons",
    "bot/slack/fixes/buttons.py": "the ids of our own buttons",
    "handlers/resource_id.py": SHORT,
    "bot/render/links.py": OURS,
    "handlers/changes/length.py": "one number and one word",
    "handlers/clients/addresses.py": SHORT,
    "handlers/clients/recording/replay.py": OURS,
    "handlers/clients/arm/policies/refuse_writes.py": SHORT,
    "handlers/clients/kube/paths.py": SHORT,
    "handlers/clients/kube/door/kubeconfig.py": "a whole address, one kind of letter",
    "handlers/fleet/cluster_text.py": "escapes names for RE2",
    "handlers/evidence/permissions.py": "escapes names for RE2",
    "handlers/evidence/drains.py": "escapes names for RE2",
    "handlers/evidence/autoscaling.py": "one number behind a fixed word",
    "handlers/evidence/service_health.py": "one letter at a time",
    "handlers/evidence/cluster.py": SHORT,
    "handlers/evidence/extension_errors.py": "one kind of letter at a time",
    "handlers/remedy/bounds.py": SHORT,
    "handlers/diagnose/quota_exceeded.py": "one name, without a repeat",
}
"""Which modules import `re`, and why they may."""


def test_every_module_that_uses_re_says_why() -> None:
    users = {
        str(file.relative_to(ROOT))
        for package in PACKAGES
        for folder in package.__path__
        for file in Path(folder).rglob("*.py")
        if _imports_re(file)
    }
    assert sorted(users ^ set(MAY_USE_RE)) == []


def _imports_re(file: Path) -> bool:
    nodes = list(ast.walk(ast.parse(file.read_text())))
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return "re" in named or any(isinstance(node, ast.ImportFrom) and node.module == "re" for node in nodes)


@pytest.fixture(scope="module")
def patterns() -> list[Pattern]:
    """Every pattern that any module compiles, and every one of the runbooks."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if found.name not in LEARNING and not found.name.endswith("__main__"):
                importlib.import_module(found.name)
    library = Library.load()
    kept: list[object] = [Recogniser(library)]
    for runbook in library.values():
        kept += [searchable(one.pattern, one.unless) for one in runbook.symptoms.patterns]
        kept += [searchable(one.pattern, one.unless) for one in runbook.values.values()]
    kept += [searchable(pattern, UNLESS.get(name, "")) for name, pattern in ANYWHERE.items()]
    gc.unfreeze()  # what is frozen is not listed
    return list({one.pattern: one for one in gc.get_objects() if isinstance(one, Pattern)}.values())


def test_every_pattern_takes_twice_as_long_over_twice_the_text(patterns: list[Pattern]) -> None:
    assert len(patterns) > 600
    made = shapes()
    slow = [
        f"{one.pattern[:100]!r} over {name}: {how}"
        for one in patterns
        for name, shape in made.items()
        if (how := not_linear(lambda text, one=one: list(one.finditer(text)), shape))  # type: ignore[misc]
    ]
    assert slow == []


def test_every_pattern_is_linear_over_what_it_looks_for_itself(patterns: list[Pattern]) -> None:
    slow = [
        f"{one.pattern[:100]!r} over {word!r}: {how}"
        for one in patterns
        for word in needs(one.pattern)[:3]
        if (how := not_linear(lambda text, one=one: list(one.finditer(text)), lambda n, w=word: (w * n)[:n]))  # type: ignore[misc]
    ]
    assert slow == []


def test_half_a_surrogate_pair_is_read_as_one_letter() -> None:
    found = compile_linear("b+").search("a\ud800bb")
    assert found
    assert found.span() == (2, 4)


def test_places_count_letters_whatever_they_weigh() -> None:
    text = "é⚠b ébb"
    assert [one.span() for one in compile_linear("b+").finditer(text)] == [(2, 3), (5, 7)]
    assert compile_linear("b+").sub("x", text) == "é⚠x éx"
    assert compile_linear(r"(\w)(b)").sub(r"\2\1", "ab eb") == "ba be"
    assert compile_linear(r"\s").split(text) == ["é⚠b", "ébb"]
