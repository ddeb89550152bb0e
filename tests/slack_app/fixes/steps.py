"""Policies that allow fixes, and the user's steps from a question to the end of a fix."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

import yaml
from redis.exceptions import ResponseError

from bot.audit.record import What
from bot.audit.store import Audit
from bot.fixes import moves
from bot.fixes.proposal import Person, Proposal
from bot.fixes.store.executions import Executions, RedisLedger
from bot.fixes.store.proposals import Proposals
from bot.store.connect import Connection
from handlers.remedy.execution import Execution, Phase
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.views import View
from tests.slack_app.reading import answered, buttons, seen

CHANNEL = "incidents"
POOL_WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"


@dataclass
class Desk:
    """One cluster's fix, in one channel."""

    control: Control
    cluster: str = "staging-neu"

    async def offered(self, user: str = "requester") -> Message:
        """Wait for the first message under the answer with a *Fix: …* button."""
        await self.control.slash(user, CHANNEL, "/aks", f"check {self.cluster}")
        (head,) = await answered(self.control, CHANNEL)
        return self.control.thread(CHANNEL, head.ts)[1]

    async def planned(self, cause: Message, user: str = "requester") -> View:
        """Open the modal with the plan and fill it in."""
        await self.control.press(user, cause, "fix_0_0")
        return await self.window(user)

    async def window(self, user: str) -> View:
        def filled() -> View | None:
            view = self.control.modal(user)
            return view if view and "One moment" not in str(view.blocks) else None

        await self.control.until(lambda: filled() is not None, 30)
        view = filled()
        assert view
        return view

    async def asked(self, user: str = "requester", reason: str = "") -> Message:
        """Request the fix; returns the proposal's message in the thread."""
        cause = await self.offered(user)
        await self.planned(cause, user)
        await self.control.submit_view(user, {"reason": reason} if reason else {})
        return await self.proposal()

    async def declined(self, proposal: Message, user: str = "approver", reason: str = "batch runs until 5") -> None:
        await self.control.press(user, proposal, "fix_decline")
        await self.control.submit_view(user, {"reason": reason})

    async def proposal(self) -> Message:
        await self.control.until(lambda: self.find() is not None, 30)
        found = self.find()
        assert found
        return found

    def find(self) -> Message | None:
        there = [one for one in self.control.messages(CHANNEL) if "fix_show" in buttons(one)]
        return there[-1] if there else None

    async def says(self, *words: str, timeout_s: float = 180) -> Message:
        """Wait until the proposal's message contains all of these texts."""

        def said() -> bool:
            found = self.find()
            return found is not None and all(word in seen(found) for word in words)

        try:
            await self.control.until(said, timeout_s)
        except TimeoutError:
            found = self.find()
            raise AssertionError(f"it does not say {words}: {seen(found) if found else 'nothing'}") from None
        return await self.proposal()

    async def listed(self) -> Message:
        """The response to `/aks fixes`."""

        def found() -> list[Message]:
            return [one for one in self.control.messages(CHANNEL) if "What can be done about" in seen(one)]

        await self.control.until(lambda: bool(found()), 30)
        return found()[-1]

    async def told(self, user: str, *words: str) -> str:
        """Wait for this person's ephemeral message with this text."""

        def last() -> str:
            return " ".join(seen(one) for one in self.control.ephemerals(user, CHANNEL))

        try:
            await self.control.until(lambda: all(word in last() for word in words), 30)
        except TimeoutError:
            raise AssertionError(f"{user} is not told {words}: {last()}") from None
        return last()


def policy(control: Control, **rule: Any) -> str:
    """A policy file; by default, the approver may approve everything.

    People go by their names, `@handle` is a user group, and `TEAM:name` is somebody's id in another team. `look` is the
    section of that name.
    """
    whole = {"clusters": ["*"], "approvers": ["approver"], "requester_counts": False, **rule}
    freezes, look = whole.pop("freezes", []), whole.pop("look", {})
    for name in ("approvers", "ping", "break_glass"):
        if name in whole:
            whole[name] = [_id(control, one) for one in whole[name]]
    if steps := whole.get("escalate"):
        whole["escalate"] = [{**step, "ping": [_id(control, one) for one in step["ping"]]} for step in steps]
    return str(yaml.safe_dump({"look": look, "fixes": {"rules": [whole], "freezes": freezes}}))


def _id(control: Control, name: str) -> str:
    team = control.team
    if name.startswith("@"):
        return next(group.id for group in team.groups if group.handle == name[1:])
    of_team, _, person = name.rpartition(":")
    return f"{of_team or team.id}:{team.person(person).id}"


def writes(arm: ArmServer) -> list[tuple[str, str]]:
    """The writes sent to Azure."""
    return [(one.method, one.path) for one in arm.log if one.is_write and one.principal]


async def audited(redis: Connection) -> list[str]:
    return [one.entry["what"] async for one in Audit(redis.redis).records()]


async def _asked_for(redis: Connection) -> list[Proposal]:
    proposals = Proposals(redis.redis)
    found = [await proposals.load(name) for name in await _names(redis)]
    return [one for one in found if one and one.requester]


async def kept_sentences(redis: Connection) -> list[str]:
    """The bot's stored texts for people: why fixes ended, and who was denied what."""
    names = await _names(redis)
    proposals = [one for one in [await Proposals(redis.redis).load(name) for name in names] if one]
    executions = [one for one in [await Executions(redis.redis).load(name) for name in names] if one]
    own = {What.ENDED, What.REFUSED, What.CALLED, What.RESTORED}
    records = [entry["reason"] for entry in await _readable(redis) if entry.get("what") in own]
    notes = [text for one in executions for text in (one.why, one.ask, *(note.says for note in one.notes))]
    return [one.why for one in proposals] + notes + records


async def _readable(redis: Connection) -> list[dict[str, Any]]:
    """Some tests corrupt or replace the audit log."""
    found = []
    with suppress(ResponseError):
        async for one in Audit(redis.redis).records():
            with suppress(ValueError):
                found.append(one.entry)
    return found


async def _names(redis: Connection) -> list[str]:
    return [str(key).removeprefix("aksbot:proposal:") async for key in redis.redis.scan_iter("aksbot:proposal:*")]


async def ended(redis: Connection, timeout_s: float = 180) -> Proposal:
    """Wait for the requested proposal to end."""
    async with asyncio.timeout(timeout_s):
        while True:
            done = [one for one in await _asked_for(redis) if one.end]
            if done:
                return done[0]
            await asyncio.sleep(0.05)


async def asked_proposal(redis: Connection) -> Proposal:
    """The stored proposal that was requested."""
    (one,) = await _asked_for(redis)
    return one


async def approved(redis: Connection, control: Control) -> Proposal:
    """The stored proposal of a process that died between the approval and the first job."""
    one = await asked_proposal(redis)
    team = control.team
    who = Person(team.id, team.person("approver").id, "approver")
    moved = await Proposals(redis.redis).move(one.id, partial(moves.approve, who=who, digest=one.digest))
    assert isinstance(moved, Proposal)
    return moved


async def kept(redis: Connection, here: Execution) -> None:
    """Store an execution in the state a worker had reached."""
    ledger = await Executions(redis.redis).hold(here)
    assert isinstance(ledger, RedisLedger)
    await ledger.save(here)


async def intended(redis: Connection, one: Proposal, at: datetime) -> str:
    """Store the state left by a worker that died during its write; returns the request's id."""
    request_id = str(uuid4())
    known = {
        "request_id": request_id,
        "method": "PUT",
        "path": one.plan.target,
        "state": "Failed",
        "etag": one.plan.steps[0].arguments["etag"],
        "intended_at": at.isoformat(),
    }
    here = replace(Execution.begin(one.id, one.plan), phase=Phase.INTENDED, data=known)
    await kept(redis, here)
    return request_id


async def ready(redis: Connection, one: Proposal) -> None:
    """An execution that has started but sent nothing."""
    await kept(redis, Execution.begin(one.id, one.plan))


async def no_job_is_left(redis: Connection) -> bool:
    """Wait until all jobs are done or abandoned."""
    return not [key async for key in redis.redis.scan_iter("*:task:data:*")]


def pool_of(arm: ArmServer, name: str = "general") -> str:
    return next(str(body["id"]) for key, body in arm.world.resources.items() if key.endswith(f"/agentpools/{name}"))
