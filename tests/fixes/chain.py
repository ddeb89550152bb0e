"""Workers that carry a fix out piece by piece when the test says so, on one Redis and one sandbox, without Slack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bot.audit.record import What
from bot.audit.store import Audit
from bot.fixes import moves
from bot.fixes.offering import Offering
from bot.fixes.proposal import Person, Proposal
from bot.fixes.recheck import ApprovalRecheck, Unknown
from bot.fixes.runner import Piece, Runs, Tools
from bot.fixes.store import audit_records
from bot.fixes.store.executions import Executions
from bot.fixes.store.offers import FixesInHand, OfferedPlans
from bot.fixes.store.proposals import Proposals
from bot.fixes.writer_clients import WriterClientFactory, writer_client_factory
from bot.playground.hurried import ShortenedPauses
from bot.policy.fixes import Fixes
from bot.policy.look import Asker
from bot.queue.job import Job
from bot.report.events import Report
from bot.store.connect import Connection
from handlers.clients.kube.access import KubeAccess
from handlers.problem import Problem
from handlers.remedy.plan import Offer, Plan
from sandbox.arm.server import ArmServer
from tests.bot import diagnoses
from tests.checking import access
from tests.fixes.paper import Paper
from tests.fixes.plans import REQUESTER, proposal, rules

POLICY = Fixes.model_validate({"rules": [{"clusters": ["*"], "approvers": ["T01:U02"], "approvals": 1}]})
APPROVER = Person("T01", "U02", "approver")


@dataclass
class Gate:
    """A place where a worker stands still, if the test has shut it."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.open.set()

    async def passed(self) -> None:
        self.reached.set()
        await self.open.wait()


class StallingExecutions(Executions):
    """A worker stands still between what it has read and its hold on the cluster."""

    def __init__(self, redis: Any, gate: Gate) -> None:
        super().__init__(redis)
        self._gate = gate

    async def hold(self, execution: Any) -> Any:
        await self._gate.passed()
        return await super().hold(execution)


@dataclass
class Worker:
    """One worker; the jobs that it hands in lie in `jobs` until somebody runs them."""

    connection: Connection
    bench: WriterClientFactory
    plan: Plan
    askers: Mapping[str, Asker | Unknown] = field(default_factory=lambda: {"U02": Asker("T01", "U02")})
    asks: Gate = field(default_factory=Gate)
    looks: Gate = field(default_factory=Gate)
    holds: Gate = field(default_factory=Gate)
    broken: str = ""
    """With what its look fails."""
    pace: float = 0.0
    """The share of each pause that is really waited."""
    looked: int = 0
    jobs: list[Piece] = field(default_factory=list)
    delays_s: list[float] = field(default_factory=list)
    paper: Paper = field(default_factory=Paper)

    def __post_init__(self) -> None:
        redis, times = self.connection.redis, ShortenedPauses(self.pace)
        proposals, in_hand = Proposals(redis), FixesInHand(redis)
        tools = Tools(
            still=ApprovalRecheck(POLICY, proposals, self, times),
            proposals=proposals,
            executions=StallingExecutions(redis, self.holds),
            in_hand=in_hand,
            audit=Audit(redis),
            offering=Offering(POLICY, proposals, OfferedPlans(redis), times),
            reporter=self.paper,
            bench=self.bench,
            check=self._check,
            seen=self._seen,
            submit=self._submit,
            times=times,
        )
        self._run = Runs(tools).kind.run

    async def askers_now(self, team: str, users: Iterable[str], groups: Iterable[str]) -> Mapping[str, Asker | Unknown]:
        await self.asks.passed()
        return {user: self.askers[user] for user in users}

    async def run(self, piece: Piece) -> None:
        assert await self._run(piece, asyncio.Event())

    async def run_all(self) -> None:
        """Its jobs, one after the other, until there are none."""
        while self.jobs:
            await self.run(self.jobs.pop(0))

    async def _submit(self, job: Job[Any]) -> None:
        self.jobs.append(job.payload)
        self.delays_s.append(job.delay_s)

    async def _check(self, cluster: str) -> Report | Problem:
        self.looked += 1
        await self.looks.passed()
        if self.broken:
            raise RuntimeError(self.broken)
        offer = Offer(self.plan.verify.code, self.plan.verify.subject, self.plan.remedy, self.plan)
        return Report(diagnoses.found(), 1.0, 1, offers=(offer,))

    async def _seen(self, report: Report, who: str) -> None:
        pass


@asynccontextmanager
async def bench_of(arm: ArmServer) -> AsyncIterator[WriterClientFactory]:
    async with writer_client_factory(access(arm), KubeAccess()) as bench:
        yield bench


async def approved(connection: Connection, plan: Plan) -> Proposal:
    """Asked for by one, approved by the other."""
    proposals = Proposals(connection.redis)
    made = await proposals.offer(plan, "T01", proposal().spot, rules())
    await proposals.move(made.id, partial(moves.ask, who=REQUESTER, digest=made.digest))
    moved = await proposals.move(made.id, partial(moves.approve, who=APPROVER, digest=made.digest))
    assert isinstance(moved, Proposal)
    await Audit(connection.redis).write(audit_records.entry(What.APPROVED, moved, APPROVER))
    return moved
