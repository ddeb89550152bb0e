"""An act carries out one verb in pieces. Between two pieces only what was stored is known.

prepare     reads, and returns what would be sent; nothing has been sent yet
look_back   an intent was stored, but no answer: find out from the resource whether it was sent
follow      an answer was stored: find out what became of it

A verdict says how the step continues:

Sending     send this, once
Wait        look again later
Going       it is running; this is what the next look needs
Again       this part is done; the step continues with another one
Done        the step is done
Stopped     the step has failed, and the fix with it
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.kube.reader import KubeReader
from handlers.remedy.execution import Outcome
from handlers.remedy.plan import Step

LOOK_AGAIN_S = 10.0
SETTLE = timedelta(seconds=60)
"""A request that is on its way arrives within this, or never: no gateway holds one for longer."""
LONGEST_PAUSE_S = 60.0


def backoff(tries: int) -> float:
    """The delay before the next attempt, after this many failures."""
    return min(5.0 * float(2 ** min(tries - 1, 10)), LONGEST_PAUSE_S)


class KubeWriterClient(Protocol):
    """Writes inside the cluster. Each write is sent once; a lost answer raises WriteFateUnknown."""

    async def get(self, path: str) -> Any:
        """The raw object."""

    async def merge_patch(self, path: str, body: Mapping[str, Any]) -> Any: ...

    async def post(self, path: str, body: Mapping[str, Any]) -> Any: ...

    async def delete(self, path: str, body: Mapping[str, Any]) -> Any: ...

    async def text(self, path: str) -> str: ...


@dataclass(frozen=True, slots=True)
class WriterClients:
    """The clients that an act reads and writes with. Made for one piece of work, because its reads must be fresh."""

    arm: ArmWriter
    reader: ArmReader
    """Keeps no answer: `fresh_for_s=0`."""
    nodes: KubeReader
    kube: KubeWriterClient


@dataclass(frozen=True, slots=True)
class Scene:
    """What one piece of an act knows about its fix."""

    write_clients: WriterClients
    step: Step
    execution: str
    data: Mapping[str, Any]
    now: datetime

    @property
    def request_id(self) -> str:
        return str(self.data.get("request_id", ""))

    def since(self, name: str) -> timedelta:
        """How long ago something was stored; zero if it was not."""
        text = self.data.get(name)
        return self.now - datetime.fromisoformat(text) if isinstance(text, str) else timedelta()

    def once(self, says: str) -> str:
        """This text on the first of many looks, nothing on the others."""
        return "" if self.data.get("said_once") == says else says

    def lost(self, doing: str) -> str:
        """Why it is unknown whether a write was sent: the worker died before the answer, or no answer came."""
        why = self.data.get(UNANSWERED)
        return f"{doing} was never answered ({why})" if why else f"the worker died before {doing} was answered"

    @property
    def has_settled(self) -> bool:
        """Whether a write, if it was sent, must have arrived by now."""
        return self.since("intended_at") >= SETTLE


@dataclass(frozen=True, slots=True)
class Answered:
    """A write was accepted. `data` is what following it needs."""

    result: str
    data: Mapping[str, Any] = field(default_factory=dict)
    correlation_id: str = ""
    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Sending:
    """A write that is ready to send. What `send` holds (a raw body) is never stored; `data` is."""

    method: str
    path: str
    send: Callable[[str], Awaitable[Answered]]
    """Given the request id that was written down."""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float = LOOK_AGAIN_S
    says: str = ""
    bad_looks: int = 0
    """How many looks in a row brought nothing, with this one."""


@dataclass(frozen=True, slots=True)
class Going:
    data: Mapping[str, Any]
    seconds: float = LOOK_AGAIN_S
    says: str = ""


@dataclass(frozen=True, slots=True)
class Again:
    data: Mapping[str, Any]
    says: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Done:
    """`answer`: what a step that only looks has learned."""

    says: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """`ask`: if the outcome is unknown, what a person should look at, and what each result would mean."""

    outcome: Outcome
    why: str
    ask: str = ""


Verdict = Sending | Wait | Going | Again | Done | Stopped


class Act(Protocol):
    """One verb."""

    async def prepare(self, scene: Scene) -> Sending | Wait | Going | Again | Done | Stopped: ...

    async def look_back(self, scene: Scene) -> Wait | Going | Again | Done | Stopped: ...

    async def follow(self, scene: Scene) -> Wait | Going | Again | Done | Stopped: ...

    def give_up(self, scene: Scene) -> Again | None:
        """The time limit has passed. Returns what must still be cleaned up; None if nothing."""


CLOSING = "closing"
"""In the data of a step: it only tidies up from now on, whatever is cancelled or over its time."""
UNANSWERED = "unanswered"
"""Why a worker that lives has no answer to what it sent."""
TIDY_SINCE = "tidy_since"
"""When tidying up began. It has a time of its own, however long its turn was in coming."""


def stale(why: str) -> Stopped:
    return Stopped(Outcome.STALE, why)


def failed(why: str) -> Stopped:
    return Stopped(Outcome.FAILED, why)


def unknown(why: str, ask: str) -> Stopped:
    return Stopped(Outcome.UNKNOWN, why, ask)
