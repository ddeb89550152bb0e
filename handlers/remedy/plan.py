"""What a fix is before anybody approves it: frozen values, no I/O.

Verb        what a step may be: a closed list; one module can carry them out
Step        one act on one thing, with the sentence a person reads and the command that does the same by hand
Plan        steps, what must still be true before them, how to undo, how to see that it worked
Forbidden   a reason why there is no plan: what stands in the way, and what to do about it
Offer       what a finding comes with: a plan, or the reasons against it
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from typing import Any

from handlers.plain_json import must_be_plain
from handlers.remedy.in_words import in_words

_DECODED = 256
"""Plans that are remembered as they were read: those of the fixes that people look at now."""


class Verb(StrEnum):
    """Everything that a fix can do."""

    PUT_POOL_AS_READ = "put-pool-as-read"
    PUT_CLUSTER_AS_READ = "put-cluster-as-read"
    UPDATE_INSTANCE = "update-instance"
    """One instance of a scale set gets the set's model again; the step ends when its node is Ready."""
    REAPPLY_MACHINE = "reapply-machine"
    RELAX_BUDGET = "relax-budget"
    RESTORE_BUDGET = "restore-budget"
    DELETE_POD = "delete-pod"
    REGISTER_PROVIDER = "register-provider"
    PROBE_FROM_POD = "probe-from-pod"
    ABORT_LATEST = "abort-latest"
    ENABLE_ISOLATION_DOMAIN = "enable-isolation-domain"


class Risk(StrEnum):
    """The worst that can happen: nothing noticeable, a disturbance, lost work."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Step:
    """One act. `target` is an ARM id, or `namespace/Kind/name` inside the cluster."""

    verb: Verb
    target: str
    says: str
    """What it does, for a person: "Reconcile cluster prod-weu (no configuration change)"."""
    request: str
    """What goes over the wire: "PUT /subscriptions/…/managedClusters/prod-weu, the body as read"."""
    command: str
    """The same by hand."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON values that the verb needs: instance and node name, uid, namespace, provider, grace."""
    always: bool = False
    """Done even when a step before it has failed: what was relaxed is restored."""

    def __post_init__(self) -> None:
        must_be_plain(f"the arguments of the step {self.verb}", self.arguments)

    def as_dict(self) -> dict[str, Any]:
        return {
            "verb": self.verb.value,
            "target": self.target,
            "says": self.says,
            "request": self.request,
            "command": self.command,
            "arguments": dict(self.arguments),
            "always": self.always,
        }


@dataclass(frozen=True, slots=True)
class Verify:
    """How success is verified: the finding is gone, and the cluster's state agrees."""

    code: str
    subject: str
    settle: timedelta = timedelta(seconds=30)
    """How long the world needs until a look at it means something."""
    remains: str = ""
    """What is not well although the finding is gone: said with the outcome."""

    def as_dict(self) -> dict[str, Any]:
        remains = {"remains": self.remains} if self.remains else {}
        return {"code": self.code, "subject": self.subject, "settle_s": self.settle.total_seconds(), **remains}


@dataclass(frozen=True, slots=True)
class Plan:
    """The complete fix of one finding. An approval covers exactly this: see `digest`."""

    remedy: str
    title: str
    """ "Reconcile node pool apps": a button's label, at most 60 characters: see `titles`."""
    cluster: str
    """The cluster's ARM id."""
    target: str
    """What is acted on: an ARM id, or `namespace/Kind/name`."""
    steps: tuple[Step, ...]
    before: Mapping[str, Any]
    """What must still be true when it begins, plain JSON, by a name that a person understands. No counts, no times."""
    undo: str
    verify: Verify
    risk: Risk
    could_go_wrong: tuple[str, ...]
    eta: timedelta
    limit: timedelta
    """After this long it has not worked."""
    warnings: tuple[str, ...] = ()
    effect: str = ""
    """What it does to whom, in one sentence without its full stop: what people read before they approve. Plans of
    earlier versions have none."""

    def __post_init__(self) -> None:
        must_be_plain(f"what must be true before {self.remedy}", self.before)

    @property
    def digest(self) -> str:
        """What an approval covers. Any other step, target or state before gives another digest."""
        return sha256(self.as_json().encode()).hexdigest()

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))

    def as_dict(self) -> dict[str, Any]:
        """All of it, as plain JSON."""
        # Left out where there is none: a plan of an earlier version keeps its digest.
        effect = {"effect": self.effect} if self.effect else {}
        return {
            "remedy": self.remedy,
            "title": self.title,
            "cluster": self.cluster,
            "target": self.target,
            "steps": [step.as_dict() for step in self.steps],
            "before": dict(self.before),
            "undo": self.undo,
            "verify": self.verify.as_dict(),
            "risk": self.risk.value,
            "could_go_wrong": list(self.could_go_wrong),
            "eta_s": self.eta.total_seconds(),
            "limit_s": self.limit.total_seconds(),
            "warnings": list(self.warnings),
            **effect,
        }

    @classmethod
    def from_json(cls, text: str) -> Plan:
        return _decoded(text)

    def moved(self, now: Plan) -> tuple[str, ...]:
        """What has changed since the approval. Empty: the plan is still valid."""
        changed = [
            f"{name}: was {_short(self.before.get(name))}, is {_short(now.before.get(name))}"
            for name in sorted({*self.before, *now.before})
            if self.before.get(name) != now.before.get(name)
        ]
        if not changed and [step.target for step in self.steps] != [step.target for step in now.steps]:
            changed.append("other things would be acted on now")
        return tuple(changed)


@lru_cache(maxsize=_DECODED)
def _decoded(text: str) -> Plan:
    """The same text is the same plan, so one that a fix reads dozens of times is decoded once. What is read from the
    store stays a fresh read each time."""
    data: dict[str, Any] = json.loads(text)
    steps = tuple(Step(**{**item, "verb": Verb(item["verb"])}) for item in data.pop("steps"))
    verify = data.pop("verify")
    return Plan(
        steps=steps,
        verify=Verify(
            verify["code"], verify["subject"], timedelta(seconds=verify["settle_s"]), verify.get("remains", "")
        ),
        risk=Risk(data.pop("risk")),
        eta=timedelta(seconds=data.pop("eta_s")),
        limit=timedelta(seconds=data.pop("limit_s")),
        could_go_wrong=tuple(data.pop("could_go_wrong")),
        warnings=tuple(data.pop("warnings")),
        **data,
    )


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Why there is no button: what prevents the fix, and what a person can do about it."""

    because: str
    do: str


@dataclass(frozen=True, slots=True)
class Offer:
    """What is offered for a finding."""

    code: str
    subject: str
    remedy: str
    plan: Plan | None = None
    forbidden: tuple[Forbidden, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "subject": self.subject,
            "remedy": self.remedy,
            "plan": self.plan.as_json() if self.plan else None,
            "forbidden": [[forbidden.because, forbidden.do] for forbidden in self.forbidden],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Offer:
        plan = Plan.from_json(data["plan"]) if data["plan"] else None
        forbidden = tuple(Forbidden(because, do) for because, do in data["forbidden"])
        return cls(data["code"], data["subject"], data["remedy"], plan, forbidden)


def _short(value: Any) -> str:
    text = in_words(value)
    return text if len(text) <= 200 else text[:200] + "…"
