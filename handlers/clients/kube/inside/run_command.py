"""Run a command in a cluster through Azure: the one write of the reader's identity, kept apart from all readers.

Azure starts a pod in the cluster for it, which needs room on a node and takes seconds. Off by default; a closed list of
commands, each written to the audit before it is sent, and sent once.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from handlers.clients.arm.reader import CREDENTIAL_API, ArmReader
from handlers.clients.call_log import CallLog
from handlers.clients.clock import Clock, give_up_at
from handlers.clients.errors import ArmError, Garbled, NotFound, ServerFault, TimedOut
from handlers.clients.kube.inside.questions import QUESTIONS
from handlers.clients.kube.refusals import refusal
from handlers.clients.kube.reply import Reply
from handlers.clients.redact import redact_text
from handlers.model import Target
from runbooks.linear import compile_linear

if TYPE_CHECKING:
    from handlers.clients.arm.writer import ArmWriter

Audit = Callable[[str, str], None]
"""Told the cluster's id and the command, before it is sent."""

LOG = logging.getLogger("aksbot.run-command")
WANTED = "run-command"
INTERVAL_S = 1.0
"""Azure never says how long to wait; a command that runs at all is done in a few seconds."""
MARGIN_S = 0.2
"""We stop a little before we are stopped, to say what we were waiting for."""
_CODES = ("KubernetesPerformanceError", "KubernetesOperationError")
_FORBIDDEN = compile_linear(r"Error from server \(Forbidden\): (?P<said>.*)")
_UNAUTHORIZED = compile_linear(r"You must be logged in to the server|Unauthorized")


def audit_to_log(cluster: str, command: str) -> None:
    """The audit for callers that have none: the log."""
    LOG.warning("%s", json.dumps({"event": "run-command", "cluster": cluster, "command": command}))


class RunCommand:
    """Runs one of the fixed commands and returns its output."""

    def __init__(
        self,
        target: Target,
        arm: ArmReader,
        *,
        token: Callable[[], Awaitable[str | None]],
        audit: Audit | None = None,
        clock: Clock,
        interval_s: float = INTERVAL_S,
    ) -> None:
        self._target = target
        self._arm = arm
        self._token = token
        self._audit = audit or audit_to_log
        self._clock = clock
        self._interval_s = interval_s
        self.calls = CallLog()
        """What was sent to Azure for it: the command and every look at its result."""

    async def output(self, command: str) -> str:
        """What the command printed. Failures are raised as an ArmError."""
        if command not in {question.command for question in QUESTIONS}:
            raise ValueError("only the fixed questions are asked by run-command")
        left_s = give_up_at(self._clock) - self._clock.now() - MARGIN_S
        try:
            async with asyncio.timeout(left_s):
                return _printed(await self._run(command))
        except TimeoutError:
            detail = f"the command did not finish within {max(left_s, 0):.2g} s; its pod may still be starting"
            raise TimedOut(WANTED, detail) from None

    async def close(self) -> None:
        if "_writer" in self.__dict__:
            await self._writer.close()

    async def _run(self, command: str) -> Any:
        token = await self._token()
        body = {"command": command, "context": "", **({"clusterToken": token} if token else {})}
        self._audit(str(self._target.id), command)
        try:
            path = f"{self._target.id}/runCommand"
            # Every api-version of AKS has these fields, and the read of the cluster has shown what the cloud offers.
            operation = await self._writer.post(path, self._writer.to_ask_in(path, CREDENTIAL_API), body)
        except ArmError as error:
            raise _explained(error) from error
        try:
            return (await operation.wait()).body
        except NotFound as gone:
            # A command pod that never started is reported this way too.
            raise _no_pod(gone.detail) from gone
        except ArmError as error:
            raise _explained(error) from error

    @cached_property
    def _writer(self) -> ArmWriter:
        from handlers.clients.arm.writer import ArmWriter

        arm = self._arm
        return ArmWriter(
            arm.access, credential=arm.credential, interval_s=self._interval_s, clock=self._clock, calls=self.calls
        )


def _explained(error: ArmError) -> ArmError:
    return _no_pod(error.detail) if error.code in _CODES else error


def _no_pod(why: str) -> ArmError:
    return ServerFault(WANTED, f"its pod could not be started in the cluster: {why}")


def _printed(body: Any) -> str:
    result = body.get("properties") if isinstance(body, dict) else None
    if not isinstance(result, dict):
        raise Garbled(WANTED, "the result of the command could not be understood")
    state, code, logs = result.get("provisioningState"), result.get("exitCode"), result.get("logs")
    if state == "Failed":
        reason = redact_text(str(result.get("reason") or "no reason was given"))[:300]
        raise _no_pod(reason)
    if state != "Succeeded" or not isinstance(logs, str):
        raise Garbled(WANTED, f"the command ended as {redact_text(str(state))[:60]}, without an output")
    if code:
        raise _failed(int(code) if isinstance(code, int) else 1, logs)
    return logs


def _failed(code: int, logs: str) -> ArmError:
    """The error that kubectl printed."""
    if forbidden := _FORBIDDEN.search(logs):
        return _as_status(403, "Forbidden", forbidden["said"])
    text = redact_text(" ".join(logs.split()))[:300]
    if _UNAUTHORIZED.search(logs):
        return _as_status(401, "Unauthorized", text)
    return ServerFault(WANTED, f"kubectl ended with {code}: {text or 'without a word'}")


def _as_status(status: int, reason: str, message: str) -> ArmError:
    body = {"kind": "Status", "reason": reason, "message": message, "code": status}
    return refusal("GET", "", Reply(status, {}, orjson.dumps(body)))
