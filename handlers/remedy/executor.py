"""Carries out an approved plan, one short piece at a time. Besides the acts, the only module that may write.

The holder of the ledger calls `advance` until the execution has ended, and waits `wait_s` in between. A process may die
after any piece: what is to be sent is stored before it is sent, what came back is stored before anything follows from
it, and a write without a stored answer is never sent again.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from handlers.clients.arm.write_sent_hook import on_write_sent
from handlers.clients.errors import ArmError, ServerFault, WriteFateUnknown
from handlers.remedy.acts.act import (
    CLOSING,
    TIDY_SINCE,
    UNANSWERED,
    Act,
    Again,
    Answered,
    Done,
    Going,
    Scene,
    Sending,
    Stopped,
    Verdict,
    Wait,
    WriterClients,
    backoff,
    failed,
)
from handlers.remedy.acts.catalogue import ACTS
from handlers.remedy.acts.refused import read_failed, refused
from handlers.remedy.bounds import out_of_bounds
from handlers.remedy.execution import Call, Execution, Outcome, Phase, StepEnd
from handlers.remedy.ledger import Ledger
from handlers.remedy.permit import NotKnown, Permit, Withdrawn, granted
from handlers.remedy.plan import Step
from handlers.resource_id import last_name

Checkpoint = Callable[[str], Awaitable[None]]

TIDY_FOR = timedelta(minutes=30)
"""What is done always has this time of its own, also after the plan's limit: a relaxed budget must not stay relaxed."""
SEND_WITHIN = timedelta(seconds=20)
"""Later than this after it was written down nothing is sent, whatever stood still or was slow: by `SETTLE` others may
look. A write that is on its way by then waits for its answer as long as it takes."""
SOON_S = 1.0
MOST_ASKED_LEAVE = 5
"""Where nobody can say whether a fix may begin, it is asked so often, over some 75 s: Slack throttles by the minute."""
_ASKED_LEAVE = "asked_leave"


async def _nothing(_: str) -> None:
    """The default checkpoint: nobody waits at the boundaries."""


class Executor:
    """`checkpoint` is awaited at every boundary between two non-atomic actions (tests kill the process there). `permit`
    is asked right before the first write.
    """

    def __init__(
        self,
        write_clients: WriterClients,
        *,
        checkpoint: Checkpoint = _nothing,
        permit: Permit = granted,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        send_within: timedelta = SEND_WITHIN,
    ) -> None:
        self._write_clients = write_clients
        self._checkpoint, self._permit = checkpoint, permit
        self._now = now
        self._send_within = send_within

    async def advance(self, execution: Execution, ledger: Ledger) -> Execution:
        """Do the next piece. Raises NotOurs, before anything is sent, if another worker has taken over."""
        if execution.ended:
            return execution
        current = _never_answered(_skipped(execution))
        if current.step >= len(current.plan.steps):
            return await self._kept(_ended(current), ledger)
        step = current.plan.steps[current.step]
        act = ACTS[step.verb]
        if _tidies(current, step) and TIDY_SINCE not in current.data:
            current = replace(current, data={**current.data, TIDY_SINCE: self._now().isoformat()})
        if self._too_late(current, step):
            return await self._settled(current, self._given_up(current, step, act), ledger)
        if current.phase is not Phase.READY:
            return await self._settled(current, await self._looked(current, step, act), ledger)
        if astray := out_of_bounds(current.plan, step):
            return await self._settled(current, failed(f"{astray}; nothing was sent"), ledger)
        verdict = await self._asked(current, act.prepare(self._scene(current, step)))
        if not isinstance(verdict, Sending):
            return await self._settled(current, verdict, ledger)
        if not _has_begun(current, step) and (against := self._not_yet(current, await self._permit())):
            return await self._settled(current, against, ledger)
        return await self._sent(current, verdict, ledger)

    def _not_yet(self, execution: Execution, text: Withdrawn | NotKnown | None) -> Again | Stopped | None:
        """Why the first write is not sent now. Prepared and asked anew each time."""
        if text is None:
            return None
        asked = int(execution.data.get(_ASKED_LEAVE, 0)) + 1
        if isinstance(text, Withdrawn) or asked >= MOST_ASKED_LEAVE:
            return Stopped(Outcome.CANCELLED, f"{text.why}; nothing was sent")
        says = f"{text.why}; nothing was sent yet, and it is asked again" if asked == 1 else ""
        return Again({**execution.data, _ASKED_LEAVE: asked}, says, backoff(asked))

    # -- one write --------------------------------------------------------------------------------------------

    async def _sent(self, execution: Execution, sending: Sending, ledger: Ledger) -> Execution:
        await self._at(execution, 1, "ready, no intent recorded")
        request_id = str(uuid.uuid4())
        known = {"request_id": request_id, "method": sending.method, "path": sending.path}
        data = {**execution.data, **sending.data, **known, "intended_at": self._now().isoformat()}
        data.pop(UNANSWERED, None)
        intent = replace(execution, phase=Phase.INTENDED, data=data)
        if "tries" not in execution.data and "stage" not in execution.data:
            intent = intent.said(execution.plan.steps[execution.step].says, self._now())
        await ledger.save(intent)
        await self._at(execution, 2, "intent recorded, not sent")
        left = self._send_within - self._scene(intent, execution.plan.steps[execution.step]).since("intended_at")
        if left < timedelta():
            return await self._kept(replace(execution, wait_s=SOON_S), ledger)
        call = Call(sending.method, sending.path, request_id, "")
        try:
            answer = await _before(left, sending, request_id)
        except (WriteFateUnknown, ServerFault) as lost:
            lost_call = replace(call, result=f"no answer: {lost.detail}")
            unanswered = replace(_called(intent, lost_call), data={**data, UNANSWERED: lost.detail}, wait_s=SOON_S)
            return await self._kept(unanswered, ledger)
        except ArmError as error:
            verdict = refused(error, execution.plan.steps[execution.step], execution.data)
            return await self._settled(_called(intent, replace(call, result=error.detail)), verdict, ledger)
        await self._at(execution, 3, "sent, not recorded")
        done = replace(call, result=answer.result, correlation_id=answer.correlation_id)
        running = replace(_called(intent, done), phase=Phase.RUNNING, data={**data, **answer.data})
        kept = await self._kept(replace(running, wait_s=answer.wait_s), ledger)
        await self._at(execution, 4, "answer recorded")
        return kept

    # -- looking ----------------------------------------------------------------------------------------------

    async def _looked(self, execution: Execution, step: Step, act: Act) -> Verdict:
        scene = self._scene(execution, step)
        return await self._asked(
            execution, act.follow(scene) if execution.phase is Phase.RUNNING else act.look_back(scene)
        )

    async def _asked(self, execution: Execution, verdict: Awaitable[Verdict]) -> Verdict:
        """A failed read is tried again; the operation that was sent goes on regardless."""
        try:
            return await verdict
        except ArmError as error:
            step = execution.plan.steps[execution.step]
            return read_failed(error, execution.phase, step, execution.data, patient=_tidies(execution, step))

    def _given_up(self, execution: Execution, step: Step, act: Act) -> Verdict:
        limit = round(execution.plan.limit.total_seconds() / 60)
        why = f"not done within {limit} min: {step.says}"
        tidy = None if _tidies(execution, step) else act.give_up(self._scene(execution, step))
        if tidy is not None:
            return replace(tidy, says=why)
        if step.always:
            why += f"; do it by hand: {step.command}"
        elif execution.phase is Phase.RUNNING:
            why += "; what was sent goes on by itself"
        elif execution.phase is Phase.INTENDED:
            name = last_name(step.target)
            ask = f"Look at {name} by hand. If it is well, nothing is left to do; if not, check again."
            return Stopped(Outcome.UNKNOWN, f"{why}; whether it was sent at all is not known", ask)
        return Stopped(Outcome.TIMED_OUT, why)

    def _too_late(self, execution: Execution, step: Step) -> bool:
        if _tidies(execution, step):
            return self._scene(execution, step).since(TIDY_SINCE) > TIDY_FOR
        return self._now() - execution.began > execution.plan.limit

    # -- writing down -----------------------------------------------------------------------------------------

    async def _settled(self, execution: Execution, verdict: Verdict, ledger: Ledger) -> Execution:
        """Apply a verdict to the execution, and store it."""
        then = self._after(execution, verdict)
        if then.step == execution.step and not isinstance(verdict, Again):
            return await self._kept(then, ledger)
        await self._at(execution, 5, "ended, not recorded")
        kept = await self._kept(then, ledger)
        await self._at(execution, 6, "end recorded")
        return kept

    def _after(self, execution: Execution, verdict: Verdict) -> Execution:
        match verdict:
            case Wait(seconds, says, bad_looks):
                kept = {
                    **execution.data,
                    "bad_looks": bad_looks,
                    "said_once": says or execution.data.get("said_once", ""),
                }
                return self._noted(replace(execution, wait_s=seconds, data=kept), says)
            case Going(data, seconds, says):
                kept = {**execution.data, **data, "bad_looks": 0}
                return self._noted(replace(execution, phase=Phase.RUNNING, data=kept, wait_s=seconds), says)
            case Again(data, says, seconds):
                since = {TIDY_SINCE: execution.data[TIDY_SINCE]} if TIDY_SINCE in execution.data else {}
                kept = {**since, **data}
                return self._noted(replace(execution, phase=Phase.READY, data=kept, wait_s=seconds), says)
            case Done(says, answer):
                after = replace(_next(execution, StepEnd.DONE), answer=answer or execution.answer)
                return self._noted(after, says)
            case Stopped(outcome, why, ask):
                end = StepEnd.SKIPPED if outcome in (Outcome.CANCELLED, Outcome.STALE) else StepEnd.FAILED
                return self._noted(_next(_failed(execution, outcome, why, ask), end), why)
            case Sending():
                raise TypeError("a write is sent before anything is made of it")

    def _noted(self, execution: Execution, says: str) -> Execution:
        return execution.said(says, self._now()) if says else execution

    async def _kept(self, execution: Execution, ledger: Ledger) -> Execution:
        await ledger.save(execution)
        return execution

    async def _at(self, execution: Execution, number: int, boundary: str) -> None:
        step = execution.plan.steps[execution.step]
        name = f"{execution.step * 6 + number:02d} {step.verb} {last_name(step.target)}: {boundary}"
        await self._checkpoint(name)

    def _scene(self, execution: Execution, step: Step) -> Scene:
        return Scene(self._write_clients, step, execution.id, execution.data, self._now())


async def _before(left: timedelta, sending: Sending, request_id: str) -> Answered:
    """Send in time or abort: if a token or a connection takes too long, another worker may have taken over."""
    limit = asyncio.timeout(left.total_seconds())

    def write_sent() -> None:
        if not limit.expired():
            limit.reschedule(None)

    try:
        with on_write_sent(write_sent):
            async with limit:
                return await sending.send(request_id)
    except TimeoutError as late:
        if not limit.expired():
            raise
        detail = f"it was not on its way within {left.total_seconds():.0f} s, and was broken off"
        raise WriteFateUnknown(sending.path, detail, request_id=request_id) from late


def _tidies(execution: Execution, step: Step) -> bool:
    """Clean-up steps run whatever has failed, was cancelled, or is over its time limit."""
    return step.always or CLOSING in execution.data


def _has_begun(execution: Execution, step: Step) -> bool:
    """Once begun, a fix is completed and its clean-up done, even if an approver has lost their permission."""
    return _tidies(execution, step) or any(call.may_have_been_done for call in execution.calls)


def _called(execution: Execution, call: Call) -> Execution:
    return replace(execution, calls=(*execution.calls, call))


def _never_answered(execution: Execution) -> Execution:
    """A worker died while sending: the call that may have been sent is recorded like every other."""
    request_id = execution.data.get("request_id")
    if execution.phase is not Phase.INTENDED or any(call.request_id == request_id for call in execution.calls):
        return execution
    method, path = str(execution.data.get("method", "")), str(execution.data.get("path", ""))
    return _called(execution, Call(method, path, str(request_id), "no answer: the worker died while it sent it"))


def _next(execution: Execution, end: StepEnd) -> Execution:
    return replace(execution.past(end, execution.step + 1), phase=Phase.READY, data={}, wait_s=0.0)


def _failed(execution: Execution, outcome: Outcome, why: str, ask: str) -> Execution:
    """The first failure decides the outcome; an unknown outcome outweighs all others."""
    known = execution.failed_as if execution.failed_as is not None and outcome is not Outcome.UNKNOWN else outcome
    whys, asks = (execution.failing, why), (execution.ask, ask)
    return replace(execution, failed_as=known, failing="; ".join(filter(None, whys)), ask=" ".join(filter(None, asks)))


def _skipped(execution: Execution) -> Execution:
    """Skip the remaining steps, except clean-up."""
    steps = execution.plan.steps
    if execution.phase is not Phase.READY or CLOSING in execution.data or execution.step >= len(steps):
        return execution
    if execution.cancelled and execution.failed_as is None and not all(step.always for step in steps[execution.step :]):
        at = f"cancelled before step {execution.step + 1} of {len(steps)}"
        execution = _failed(execution, Outcome.CANCELLED, at, "")
    if execution.failed_as is None:
        return execution
    step = execution.step
    while step < len(steps) and not steps[step].always:
        step += 1
    if step == execution.step:
        return execution
    return replace(execution.past(StepEnd.SKIPPED, step), data={}, wait_s=0.0)


def _ended(execution: Execution) -> Execution:
    outcome = execution.failed_as or Outcome.DONE
    return replace(execution, outcome=outcome, why=execution.failing, wait_s=0.0, data={})
