"""Resources of Azure Service Operator by what is wrong with them: each problem once, however many it stops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from handlers.diagnose.aso.standing import Stage, Standing, standing
from handlers.evidence.aso.resources import AsoResource, AsoResources
from handlers.evidence.workloads.warnings import Warned, WarningEvents
from handlers.model import Unavailable
from runbooks.linear import compile_linear

SHORTEST_NAME = 3
"""Shorter ones are parts of other words."""
_OWN = compile_linear(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|/subscriptions/[^\s'\",]{1,400}|\d{4}-\d\d-\d\dT[\d:.]{5,20}Z?",
    ignore_case=True,
)
"""What differs between two answers about the same thing: ids of requests and resources, times."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem, the resources that have it (longest first), and those that wait for one of them."""

    members: tuple[Standing, ...]
    waiting: tuple[AsoResource, ...] = ()

    @property
    def first(self) -> Standing:
        return self.members[0]

    @property
    def others(self) -> list[str]:
        return [one.subject for one in self.members[1:]]

    @property
    def affects(self) -> tuple[str, ...]:
        return (*self.others, *(one.subject for one in self.waiting))


@dataclass(frozen=True)
class Standings:
    """What ASO says of every resource, and who waits for whom."""

    resources: AsoResources
    all: tuple[Standing, ...]
    _by_subject: Mapping[tuple[str, str], Standing] = field(default_factory=dict)

    @classmethod
    def of(cls, resources: AsoResources, events: WarningEvents | Unavailable) -> Standings:
        said: dict[str, list[Warned]] = defaultdict(list)
        for event in events.events if isinstance(events, WarningEvents) else ():
            said[event.subject].append(event)
        found = tuple(standing(one, said.get(one.subject, ()), resources.taken_at) for one in resources.resources)
        return cls(resources, found, {_key(one.resource): one for one in found})

    def at(self, *stages: Stage) -> Iterator[Standing]:
        return (one for one in self.all if one.stage in stages)

    def owner_of(self, one: Standing) -> Standing | None:
        """What the owner of a resource that waits for it is like; None where there is none here."""
        owner = self.resources.owner_of(one.resource)
        return self._by_subject[_key(owner)] if owner else None

    def problems(self, stage: Stage, by: Callable[[Standing], Hashable]) -> Iterator[Problem]:
        """The problems at one stage, the one with the most resources first."""
        groups: dict[Hashable, list[Standing]] = defaultdict(list)
        for one in self.at(stage):
            groups[by(one)].append(one)
        waiting = self._waiting_by_root()
        for members in sorted(groups.values(), key=lambda group: (-len(group), group[0].subject)):
            oldest = sorted(members, key=lambda one: (one.since is None, one.since, one.subject))
            after = (item for one in oldest for item in waiting.get(_key(one.resource), ()))
            yield Problem(tuple(oldest), tuple(after))

    def root_of(self, one: Standing) -> Standing | None:
        """The resource at the upper end of a chain of owners that wait for each other."""
        seen = {_key(one.resource)}
        above = self.owner_of(one)
        while above and above.reason == "WaitingForOwner" and (upper := self.owner_of(above)):
            if _key(upper.resource) in seen:
                break
            seen.add(_key(upper.resource))
            above = upper
        return above

    def _waiting_by_root(self) -> Mapping[tuple[str, str], list[AsoResource]]:
        found: dict[tuple[str, str], list[AsoResource]] = defaultdict(list)
        for one in self.all:
            root = self.root_of(one) if one.reason == "WaitingForOwner" else None
            if root:
                found[_key(root.resource)].append(one.resource)
        return found


def alike(one: Standing) -> Hashable:
    """The same answer of Azure's about two resources: its code, and its text without what is their own."""
    text = _OWN.sub("…", one.error.message)
    resource = one.resource
    own = {resource.name, resource.namespace, *resource.arm_id.split("/")[4:5], *resource.arm_id.split("/")[8::2]}
    for name in sorted(own, key=len, reverse=True):
        text = text.replace(name, "…") if len(name) >= SHORTEST_NAME else text
    return one.error.code.lower(), " ".join(text.split())


def named(subjects: Iterable[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    names = list(subjects)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _key(resource: AsoResource) -> tuple[str, str]:
    """Two groups may have a kind of the same name."""
    return resource.kind.group, resource.subject
