"""A bot process that is killed during a fix, and the final state after another one has finished it."""

from __future__ import annotations

import json
import os
import signal
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.audit.store import Audit
from bot.drill.repair import differing, writes
from bot.fixes.proposal import End, Proposal
from bot.slack.fixes import text as fixes_text
from bot.store.connect import Connection
from handlers.evidence.budgets import RELAXED_FROM
from sandbox.arm.server import ArmServer
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from tests.slack_app.fixes.steps import CHANNEL, Desk, asked_proposal, audited
from tests.slack_app.fixes.test_every_remedy import budgets
from tests.slack_app.reading import buttons, seen
from tests.slack_app.serve_process import SERVE, kill
from tests.store.servers import python, until
from tests.whole_bot_killed.moments import PATIENCE_S, Moment
from tests.whole_bot_killed.redis_gate import RedisGate

HURRIED = ("-m", "tests.whole_bot_killed.hurried_process")


@dataclass(frozen=True)
class Stage:
    """Everything that outlives the process."""

    slack: SlackServer
    arm: ArmServer
    redis: Connection
    gate: RedisGate
    desk: Desk
    folder: Path

    @asynccontextmanager
    async def serving(self, pace: float | None, role: str = "all") -> AsyncIterator[Process]:
        """The process to be killed, connected to Redis through the gate. A worker has no connection to Slack."""
        opened = self.slack.sockets.opened
        words = SERVE if pace is None else (*HURRIED, str(pace))
        own = {"AKSBOT_HTTP_PORT": "0", "AKSBOT_DATA_DIR": str(self.folder / "process"), "REDIS_URL": self.gate.url}
        own["AKSBOT_ROLE"] = role
        async with python(*words, **self.arm.environment("reader"), **self.slack.environment, **own) as process:
            if role != "worker":
                await self.slack.until(lambda: self.slack.sockets.opened > opened, PATIENCE_S)
            yield process

    async def approved_until(self, moment: Moment, process: Process) -> None:
        """Request and approve a fix, and wait until the process is blocked at this moment."""
        proposal = await self.desk.asked()
        trap = moment.trap()
        trap.lay(self.arm, self.gate)
        await self.desk.control.press("approver", proposal, "fix_approve")
        await trap.sprung()
        os.kill(process.pid, signal.SIGSTOP)

    async def is_killed(self, process: Process) -> None:
        """SIGKILL the process; Azure's running operations continue."""
        await kill(process)
        self.arm.faults.clear()
        for server in self.arm.kube.values():
            server.faults.clear()
        self.arm.finish_operations()

    async def over(self) -> Proposal:
        """Wait until the fix has ended and all of its jobs are done."""

        async def quiet() -> bool:
            one = await asked_proposal(self.redis)
            keys = [str(key) async for key in self.redis.redis.scan_iter("*")]
            busy = [key for key in keys if ":task:data:" in key or key.startswith("aksbot:held:")]
            return one.end is not None and bool(self.outcomes(one)) and not busy

        await until(quiet, PATIENCE_S)
        return await asked_proposal(self.redis)

    def outcomes(self, one: Proposal) -> list[Message]:
        """The final messages about the fix."""
        return [message for message in self._said(one) if _part(message) == "outcome"]

    def _said(self, one: Proposal) -> list[Message]:
        thread = self.desk.control.thread(CHANNEL, one.spot.thread_ts or "")
        return [message for message in thread if _job(message) == f"fix-{one.id}"]

    async def assert_well_ended(self, moment: Moment, before: object, deaths: int = 1) -> None:
        one = await asked_proposal(self.redis)
        assert one.end in moment.ends, (one.end, one.why)
        self._assert_said_once(one)
        self._assert_written_once(moment, one)
        assert budgets(self.arm) == before
        assert RELAXED_FROM not in json.dumps(budgets(self.arm))
        assert (await Audit(self.redis.redis).verify()).whole
        known = Counter(await audited(self.redis))
        assert {known[name] for name in ("requested", "approved", "started", "ended")} == {1}, known
        # A call that may have been sent before the process died counts too, whether or not Azure received it.
        sent = len(writes(self.arm))
        assert sent <= known["called"] <= sent + deaths, known

    def _assert_said_once(self, one: Proposal) -> None:
        said = self._said(one)
        assert Counter(map(_part, said)) == {"proposal": 1, "outcome": 1}
        shown = next(message for message in said if _part(message) == "proposal")
        (outcome,) = self.outcomes(one)
        assert one.end
        for message in (shown, outcome):
            assert f"*{fixes_text.END_WORDS[one.end]}*" in seen(message)
        assert not {"fix_stop", "fix_approve"} & set(buttons(shown))
        if one.end is End.UNVERIFIED:
            assert "Look at" in seen(outcome), seen(outcome)

    def _assert_written_once(self, moment: Moment, one: Proposal) -> None:
        sent = writes(self.arm)
        if one.end is End.FIXED:
            assert differing(one.plan, sent) == ""
        planned = Counter(" ".join(step.request.split(" ", 2)[:2]).rstrip(",") for step in one.plan.steps)
        assert Counter(f"{method} {path}" for method, path in sent) <= planned
        if not moment.sent:
            assert sent == []


def _payload(message: Message) -> dict[str, str]:
    return dict((message.metadata or {}).get("event_payload") or {})


def _part(message: Message) -> str:
    return _payload(message).get("part", "")


def _job(message: Message) -> str:
    return _payload(message).get("job", "")
