"""The moments at which the bot is killed, defined by what it is doing, never by elapsed time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from bot.fixes.proposal import End
from sandbox.arm.server import ArmServer, Fault
from sandbox.kube.faults import Fault as KubeFault
from tests.slack_app.fixes.steps import pool_of
from tests.store.servers import until
from tests.whole_bot_killed.redis_gate import Halt, RedisGate

PATIENCE_S = 120.0
"""A process starts in seconds and a fix takes a few more, but both take much longer on a busy machine."""


class Trap(Protocol):
    """Blocks the process at a given point until it is killed."""

    def lay(self, arm: ArmServer, gate: RedisGate) -> None: ...

    async def sprung(self) -> None: ...


@dataclass
class AtRedis:
    """Blocks before a command reaches Redis; with `done`, after Redis has executed it."""

    says: str
    done: bool = False
    halt: Halt = field(init=False)

    def lay(self, arm: ArmServer, gate: RedisGate) -> None:
        self.halt = gate.halt = Halt(self.says, self.done)

    async def sprung(self) -> None:
        await _within(self.halt.reached.is_set)


@dataclass
class _ThatHangs(Fault):
    """A fault that never responds once it is hit."""

    only: Callable[[str], bool] = lambda route: True

    def takes(self, method: str, route: str, action: str, principal: str | None) -> bool:
        return self.only(route) and super().takes(method, route, action, principal)


@dataclass
class AtAzure:
    """Azure executes the write but does not respond; with `route`, only if the path contains it."""

    method: str
    route: str = ""
    principal: str = "writer"
    fault: Fault = field(init=False)

    def lay(self, arm: ArmServer, gate: RedisGate) -> None:
        wanted = self.route
        self.fault = _ThatHangs(
            "timeout",
            method=self.method,
            principal=self.principal,
            times=1,
            executed=True,
            only=lambda route: wanted in route.lower(),
        )
        arm.faults.append(self.fault)

    async def sprung(self) -> None:
        await _within(lambda: self.fault.times == 0)


@dataclass
class InTheLookAfterwards:
    """Blocks during the verification after a successful fix."""

    fault: Fault = field(init=False)

    def lay(self, arm: ArmServer, gate: RedisGate) -> None:
        pool = pool_of(arm).lower()

        def has_ended(_: str) -> bool:
            return bool(arm.world.resources[pool]["properties"]["provisioningState"] == "Succeeded")

        self.fault = _ThatHangs("timeout", method="GET", principal="reader", times=1, only=has_ended)
        arm.faults.append(self.fault)

    async def sprung(self) -> None:
        await _within(lambda: self.fault.times == 0)


@dataclass
class InTheCluster:
    """The API server has patched a budget but does not respond."""

    skip: int = 0
    faults: list[KubeFault] = field(init=False)

    def lay(self, arm: ArmServer, gate: RedisGate) -> None:
        self.faults = []
        for server in arm.kube.values():
            one = KubeFault("timeout", method="PATCH", times=1, skip=self.skip, executed=True)
            self.faults.append(one)
            server.faults.append(one)

    async def sprung(self) -> None:
        await _within(lambda: any(one.times == 0 for one in self.faults))


async def _within(holds: Callable[[], object]) -> None:
    async def held() -> bool:
        return bool(holds())

    await until(held, PATIENCE_S)


@dataclass(frozen=True)
class Moment:
    """`pace` None runs the normal `aksbot serve`; else its polling intervals are shortened by this factor."""

    trap: Callable[[], Trap]
    ends: tuple[End, ...] = (End.FIXED,)
    pace: float | None = None
    sent: bool = True
    """Whether the plan's writes are sent at all."""


EITHER = (End.FIXED, End.UNVERIFIED)
MOVED, SAVED, AUDITED, QUEUED = "aksbot:proposal:", "aksbot:execution:", "aksbot:audit", "publish_task"

POOL: dict[str, Moment] = {
    "the click is acknowledged, nothing is moved": Moment(lambda: AtRedis(f'{MOVED}.*"state":"approved"')),
    "approved, not audited": Moment(lambda: AtRedis(f'{AUDITED}.*"what":"approved"')),
    "approved and audited, not in the queue": Moment(lambda: AtRedis(f"{QUEUED}.*fix-[\\w-]+-0\r")),
    "in the queue, not begun": Moment(lambda: AtRedis(f"{QUEUED}.*fix-[\\w-]+-0\r", done=True)),
    "looked at again, not audited": Moment(lambda: AtRedis(f'{AUDITED}.*"what":"started"')),
    "start audited, not recorded": Moment(lambda: AtRedis(f'{SAVED}.*"step":0,"phase":"ready"')),
    "recorded, not moved": Moment(lambda: AtRedis(f'{MOVED}.*"state":"running"')),
    "moved, not told": Moment(lambda: AtRedis(f'{MOVED}.*"state":"running"', done=True)),
    "asked who may, intent not recorded": Moment(lambda: AtRedis(f'{SAVED}.*"phase":"intended"')),
    "intent recorded, not sent": Moment(
        lambda: AtRedis(f'{SAVED}.*"phase":"intended"', done=True), (End.UNVERIFIED,), sent=False
    ),
    "sent and accepted, no answer": Moment(lambda: AtAzure("PUT"), EITHER),
    "answered, not recorded": Moment(lambda: AtRedis(f'{SAVED}.*"phase":"running"'), EITHER),
    "answer recorded, call not audited": Moment(lambda: AtRedis(f'{AUDITED}.*"what":"called"')),
    "next piece in the queue, this one not over": Moment(
        lambda: AtRedis(f"{QUEUED}.*fix-[\\w-]+-2\r", done=True), pace=0.0
    ),
    "while the operation is polled": Moment(lambda: AtAzure("GET", "operations"), pace=0.0),
    "acts ended, not recorded": Moment(lambda: AtRedis(f'{SAVED}.*"outcome":"done"'), pace=0.0),
    "while it settles": Moment(lambda: AtRedis(f"{QUEUED}.*look[^0-9]+1", done=True), pace=0.2),
    "in the look afterwards": Moment(InTheLookAfterwards, pace=0.0),
    "verified, not audited": Moment(lambda: AtRedis(f'{AUDITED}.*"what":"ended"'), pace=0.0),
    "verdict audited, not moved": Moment(lambda: AtRedis(f'{MOVED}.*"state":"ended"'), pace=0.0),
    "ended, nobody told": Moment(lambda: AtRedis(f'{MOVED}.*"state":"ended"', done=True), pace=0.0),
    "end shown, not posted": Moment(lambda: AtRedis("outcome:meant"), pace=0.0),
    "end posted, not recorded": Moment(lambda: AtRedis("HSETNX.*\r\noutcome\r"), pace=0.0),
}
BUDGET: dict[str, Moment] = {
    "intent to relax recorded, not sent": Moment(
        lambda: AtRedis(f'{SAVED}.*"step":0,"phase":"intended"', done=True), (End.UNVERIFIED,), sent=False
    ),
    "budget relaxed, no answer": Moment(InTheCluster, EITHER),
    "budget relaxed, next step not begun": Moment(lambda: AtRedis(f'{SAVED}.*"step":1,"phase":"ready"', done=True)),
    "relaxed, intent to send the pool recorded": Moment(
        lambda: AtRedis(f'{SAVED}.*"step":1,"phase":"intended"', done=True), (End.UNVERIFIED,)
    ),
    "relaxed, and the pool was sent without an answer": Moment(lambda: AtAzure("PUT"), EITHER),
    "relaxed, while the operation is polled": Moment(lambda: AtAzure("GET", "operations"), pace=0.0),
    "pool done, cluster not begun": Moment(lambda: AtRedis(f'{SAVED}.*"step":2,"phase":"ready"', done=True), pace=0.0),
    "all done, restore not begun": Moment(lambda: AtRedis(f'{SAVED}.*"step":3,"phase":"ready"', done=True), pace=0.0),
    "intent to restore recorded, not sent": Moment(
        lambda: AtRedis(f'{SAVED}.*"step":3,"phase":"intended"', done=True), pace=0.0
    ),
    "budget restored, no answer": Moment(lambda: InTheCluster(skip=1), pace=0.0),
    "restored, end not recorded": Moment(lambda: AtRedis(f'{SAVED}.*"outcome":"done"'), pace=0.0),
}
