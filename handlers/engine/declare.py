"""How a collector and a diagnostic say what they need: their annotations are the contract.

    @collector(reads=("Microsoft.ContainerService/managedClusters/agentPools/read",))
    async def agent_pools(target: Target, arm: ArmReader) -> AgentPools: ...

    @diagnostic(codes=("subnet-full",))
    def subnet_full(pools: AgentPools, subnets: PoolSubnets) -> Iterator[Finding | Clear]: ...

`X` is required, `X | Unavailable` and `X | NotApplicable` are optional: the function is called without the
fact and says what it makes of that. A signature that cannot work is refused here, at import.

A verdict may be evidence, too: `causes: Causes`, with `causes_of=("cluster-failed",)` in the declaration, gives the
verdicts on every code whose runbook explains a failed cluster.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from handlers.model import Causes, Evidence, Judgement, NotApplicable, Unavailable
from handlers.question import Word

DEADLINE_S = 8.0
"""How long one kind of evidence may take once what it needs is there: ARM answers 99 of 100 reads in under 2 s."""


class BadDeclaration(TypeError):
    """A collector or diagnostic with an invalid signature."""


@dataclass(frozen=True, slots=True)
class Need:
    """One parameter: which kind of evidence (or client) it needs, and which values may replace it."""

    name: str
    kind: type
    or_unavailable: bool = False
    or_not_applicable: bool = False


@dataclass(frozen=True, slots=True)
class Collector:
    """A function that fetches one kind of evidence."""

    makes: type[Evidence]
    fetch: Callable[..., Awaitable[Evidence | NotApplicable]]
    needs: tuple[Need, ...]
    reads: tuple[str, ...]
    sees: tuple[str, ...]
    deadline_s: float
    title: str
    opt_in: tuple[str, ...] = ()
    """Kubernetes verbs that it uses in the namespaces alone that the settings name: they are in a role of their own."""

    @property
    def name(self) -> str:
        return self.makes.__name__


@dataclass(frozen=True, slots=True)
class ClearWithout:
    """Evidence that may be missing while a diagnostic is clear, and why the rest is still proof."""

    kinds: tuple[type[Evidence], ...]
    because: str
    in_health_only: bool = False
    """It holds only while no pool and no cluster is failed or being changed."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A function that answers one question from evidence."""

    id: str
    codes: tuple[str, ...]
    judge: Callable[..., Iterator[Judgement]]
    needs: tuple[Need, ...]
    asks: str
    area: str
    causes_of: tuple[str, ...] = ()
    clear_without: ClearWithout | None = None
    clear_says: str = ""
    word: Word | None = None
    """Asked only with this word (`path`, `rbac`, …): no part of a whole check, and no verdict on its codes."""

    def may_be_clear_without(self, kind: type) -> bool:
        return self.clear_without is not None and kind in self.clear_without.kinds


def collector(
    *,
    reads: tuple[str, ...],
    sees: tuple[str, ...] = (),
    deadline_s: float = DEADLINE_S,
    opt_in: tuple[str, ...] = (),
) -> Callable[[Callable[..., Awaitable[Evidence | NotApplicable]]], Collector]:
    """Declare a collector. `reads` are the Azure actions it needs, `sees` the Kubernetes verbs ("list pods",
    "get configmaps:name in kube-system"): roles are generated from them, and a 403 names them. `opt_in`: verbs that are
    used only where the settings name a namespace.

    Its docstring is what people call the fact ("node pools") when it could not be seen.
    """

    def declare(fetch: Callable[..., Awaitable[Evidence | NotApplicable]]) -> Collector:
        where = _where(fetch)
        if not inspect.iscoroutinefunction(fetch):
            raise BadDeclaration(f"{where} must be an async function")
        made = [kind for kind in _members(_hints(fetch).get("return")) if kind is not NotApplicable]
        if len(made) != 1 or not _is_evidence(made[0]):
            raise BadDeclaration(f"{where} must return one Evidence class (or that | NotApplicable)")
        return Collector(made[0], fetch, needs_of(fetch), reads, sees, deadline_s, _asks(fetch).rstrip("."), opt_in)

    return declare


def diagnostic(
    *,
    codes: tuple[str, ...],
    area: str,
    causes_of: tuple[str, ...] = (),
    clear_without: ClearWithout | None = None,
    clear_says: str = "",
    word: Word | None = None,
) -> Callable[[Callable[..., Iterator[Judgement]]], Diagnostic]:
    """Declare a diagnostic. `codes` are the findings it can make; its docstring is the question that people see.

    `clear_says` is what people read where it yields nothing and nothing was missing; else the sources are named.
    `causes_of`: the codes whose causes its parameter of type `Causes` covers. It may be clear without the facts in
    `clear_without`, and without no others: the engine enforces that. `word`: it answers only those who ask with it.
    """

    def declare(judge: Callable[..., Iterator[Judgement]]) -> Diagnostic:
        where = _where(judge)
        if not codes and word is None:
            raise BadDeclaration(f"{where} names no finding code")
        if inspect.iscoroutinefunction(judge) or not inspect.isgeneratorfunction(judge):
            raise BadDeclaration(f"{where} must be a plain generator function: it yields what it finds")
        needs = needs_of(judge)
        if not any(_is_evidence(need.kind) for need in needs):
            raise BadDeclaration(f"{where} needs no evidence at all")
        if any(need.kind is Causes for need in needs) != bool(causes_of):
            raise BadDeclaration(f"{where}: a parameter of type Causes and `causes_of` go together")
        name = judge.__name__.replace("_", "-")
        return Diagnostic(name, codes, judge, needs, _asks(judge), area, causes_of, clear_without, clear_says, word)

    return declare


def needs_of(function: Callable[..., Any]) -> tuple[Need, ...]:
    """The evidence and clients that a function's annotations ask for."""
    hints = _hints(function)
    return tuple(_need(function, name, hints.get(name)) for name in inspect.signature(function).parameters)


def _need(function: Callable[..., Any], name: str, annotation: Any) -> Need:
    members = _members(annotation)
    wanted = [kind for kind in members if kind not in (Unavailable, NotApplicable)]
    if len(wanted) != 1 or not isinstance(wanted[0], type):
        raise BadDeclaration(f"{_where(function)}: parameter {name!r} must be one class, or that | Unavailable")
    return Need(name, wanted[0], Unavailable in members, NotApplicable in members)


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except NameError as unknown:
        raise BadDeclaration(f"{_where(function)}: {unknown}") from unknown


def _members(annotation: Any) -> list[Any]:
    union = get_origin(annotation) in (Union, types.UnionType)
    return list(get_args(annotation)) if union else [annotation]


def _is_evidence(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Evidence)


def _asks(function: Callable[..., Any]) -> str:
    text = inspect.getdoc(function)
    if not text:
        raise BadDeclaration(f"{_where(function)} has no docstring: it is what people see")
    return text.split("\n\n")[0].replace("\n", " ")


def _where(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
