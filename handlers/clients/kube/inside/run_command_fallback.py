"""Reads the API server directly; if it cannot be reached, by run-command where the settings allow it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from handlers.clients.clock import Clock
from handlers.clients.errors import ArmError, ServerFault, Unreachable
from handlers.clients.kube.door.direct import DirectWay
from handlers.clients.kube.door.doors import KubeSessions
from handlers.clients.kube.door.unreachable import ROADBLOCKS, unreachable
from handlers.clients.kube.inside.questions import (
    API_SERVICE,
    AUTOSCALER,
    BAD_PODS,
    BUDGETS,
    LEASES,
    NODES,
    OTHER_PODS,
    OTHER_SYSTEMS,
    OTHER_WORKLOADS,
    PROVISIONING,
    SYSTEM_PODS,
    SYSTEM_WORKLOADS,
    WARNINGS,
    Question,
    key_of,
    objects,
)
from handlers.clients.kube.inside.run_command import Audit, RunCommand
from handlers.clients.kube.inside.selectors import NotAnswered, by_fields, requires
from handlers.clients.kube.paths import ApiPath
from handlers.clients.kube.refusals import refusal
from handlers.clients.kube.reply import CUT, SOURCE, Reply
from handlers.clients.recording.case import FAILURES
from handlers.clients.refusals import code_and_message
from handlers.model import Target

THROUGH = "through run-command"
ANSWERS: dict[str, tuple[Question, ...]] = {
    "/api/v1/nodes": (NODES,),
    "/api/v1/pods": (BAD_PODS, SYSTEM_PODS),
    "/api/v1/namespaces/kube-system/pods": (SYSTEM_PODS,),
    "/apis/policy/v1/poddisruptionbudgets": (BUDGETS,),
    "/api/v1/events": (WARNINGS,),
    "/apis/apps/v1/namespaces/kube-system/deployments": (SYSTEM_WORKLOADS,),
    "/apis/apps/v1/namespaces/kube-system/daemonsets": (SYSTEM_WORKLOADS,),
    **{f"/api/v1/namespaces/{system}/pods": (OTHER_PODS,) for system in OTHER_SYSTEMS},
    **{f"/apis/apps/v1/namespaces/{system}/deployments": (OTHER_WORKLOADS,) for system in OTHER_SYSTEMS},
    **{f"/apis/apps/v1/namespaces/{system}/daemonsets": (OTHER_WORKLOADS,) for system in OTHER_SYSTEMS},
    "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases": (LEASES,),
    "/apis/karpenter.sh/v1/nodeclaims": (PROVISIONING,),
    "/apis/karpenter.azure.com/v1beta1/aksnodeclasses": (PROVISIONING,),
    "/api/v1/namespaces/default/services": (API_SERVICE,),
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": (API_SERVICE,),
}
"""Which lists can be had by which questions."""
OBJECTS = {"/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status": AUTOSCALER}
"""Single objects; where the question brings none, there is none."""
KINDS = {
    "deployments": "Deployment",
    "daemonsets": "DaemonSet",
    "services": "Service",
    "endpointslices": "EndpointSlice",
    "nodeclaims": "NodeClaim",
    "aksnodeclasses": "AKSNodeClass",
}
"""Of an answer that holds several kinds, the one that a list is of."""
LABELS = {
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": "kubernetes.io/service-name=kubernetes",
}
"""The selector that a list must have, because its question has it."""
ONLY_A_PART = {
    "/api/v1/pods": "metadata.namespace=kube-system",
    "/api/v1/events": "type=Warning",
    "/api/v1/namespaces/default/services": "metadata.name=kubernetes",
}
"""Lists of which the questions bring a part, unless nothing else was wanted."""


class RunCommandFallback:
    """Asks directly. Lists that a fixed question covers come by run-command if the server cannot be reached."""

    def __init__(self, direct: DirectWay, commands: RunCommand) -> None:
        self._direct = direct
        self._commands = commands
        self._asking: dict[Question, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._said: dict[Question, str | ArmError] = {}
        self._through = ""

    @classmethod
    def beside(
        cls, direct: DirectWay, target: Target, doors: KubeSessions, audit: Audit | None, clock: Clock
    ) -> RunCommandFallback:
        token = _token(direct, doors)
        return cls(direct, RunCommand(target, doors.arm, token=token, audit=audit, clock=clock))

    @property
    def azure_calls(self) -> int:
        return self._commands.calls.count

    @property
    def reached(self) -> str:
        return self._direct.reached or self._through

    @property
    def trouble(self) -> Unreachable | None:
        return self._direct.trouble

    async def send(self, method: str, target: str, body: Mapping[str, Any] | None, accept: str = "") -> Reply:
        try:
            return await self._direct.send(method, target, body, accept)
        except Unreachable as error:
            if error.code not in ROADBLOCKS or self._direct.reached:
                raise
            blocked = error
        try:
            return await self._round(method, target, blocked)
        except NotAnswered:
            raise unreachable(f"{blocked.detail}; run-command does not ask for this") from None

    async def close(self) -> None:
        await self._commands.close()
        await self._direct.close()

    async def _round(self, method: str, target: str, blocked: Unreachable) -> Reply:
        path, _, query = target.partition("?")
        params = dict(parse_qsl(query))
        single = OBJECTS.get(path)
        questions = ((single,) if single else ANSWERS.get(path, ())) if method == "GET" else ()
        if not questions or params.get("labelSelector", "") != LABELS.get(path, ""):
            raise NotAnswered
        fields = params.get("fieldSelector", "")
        matches = by_fields(fields)
        outputs = await asyncio.gather(*(self._ask(question) for question in questions))
        for text in outputs:
            if isinstance(text, ArmError):
                raise _told(text, target, blocked)
        self._through = THROUGH
        read = [objects(*pair) for pair in zip(questions, map(str, outputs), strict=True)]
        if single:
            return _object(single, read[0], target, blocked)
        part = path in ONLY_A_PART and not requires(fields, ONLY_A_PART[path])
        kind, namespace = KINDS.get(path.rpartition("/")[2], ""), ApiPath.at(path).namespace
        of_list = [body for found, _ in read for body in found if _belongs(body, kind, namespace)]
        items = _once([body for body in of_list if matches(body)])
        return _reply(questions, items, cut=part or any(cut for _, cut in read))

    async def _ask(self, question: Question) -> str | ArmError:
        """Each question is asked once, whoever else wants its answer."""
        async with self._asking[question]:
            if question not in self._said:
                try:
                    self._said[question] = await self._commands.output(question.command)
                except ArmError as error:
                    self._said[question] = error
            return self._said[question]


def _reply(questions: tuple[Question, ...], items: list[dict[str, Any]], *, cut: bool) -> Reply:
    source = "; ".join(question.command.partition(" -o ")[0] for question in questions)
    headers = {"content-type": "application/json", SOURCE: f"{source} ({THROUGH})"}
    body = {"kind": questions[0].kind, "metadata": {}, "items": items}
    return Reply(200, headers | ({CUT: "true"} if cut else {}), orjson.dumps(body))


def _object(question: Question, read: tuple[list[dict[str, Any]], bool], target: str, blocked: Unreachable) -> Reply:
    """One object, if its projection holds all that was asked for."""
    found, cut = read
    if cut:
        raise _told(ServerFault(ApiPath.at(target).wanted, "the output of the command was cut"), target, blocked)
    source = {"content-type": "application/json", SOURCE: f"{question.command.partition(' -o ')[0]} ({THROUGH})"}
    if not found:
        gone = {
            "kind": "Status",
            "reason": "NotFound",
            "code": 404,
            "message": f"{ApiPath.at(target).wanted} not found",
        }
        return Reply(404, source, orjson.dumps(gone))
    return Reply(200, source, orjson.dumps(found[0]))


def _belongs(item: dict[str, Any], kind: str, namespace: str) -> bool:
    """Some questions return several kinds, or several namespaces."""
    return kind in ("", item.get("kind")) and namespace in ("", item["metadata"].get("namespace"))


def _once(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({key_of(body): body for body in items}.values())


def _told(error: ArmError, target: str, blocked: Unreachable) -> ArmError:
    """Both reasons: why not directly, and why not by run-command. A recording holds the same text."""
    before = f"{blocked.detail}; {THROUGH}: "
    if error.status is None or error.status < 300:
        kind = type(error) if type(error) in FAILURES.values() else ServerFault
        return kind(ApiPath.at(target).wanted, before + error.detail)
    body = error.answer if isinstance(error.answer, dict) else {}
    if body.get("kind") == "Status":
        told = {**body, "message": f"{before}{body.get('message')}"}
    else:
        code, message = code_and_message(body)
        if code == "ScopeLocked":
            code, message = "ReadOnlyLock", "such a lock forbids run-command, as it is meant to: it counts as a write"
        told = {"error": {"code": code, "message": before + (message or error.detail)}}
    told_error = refusal("GET", target, Reply(error.status, error.headers, orjson.dumps(told)))
    told_error.again = False
    return told_error


def _token(direct: DirectWay, doors: KubeSessions) -> Callable[[], Awaitable[str | None]]:
    async def token() -> str | None:
        if not direct.entra:
            return None
        return doors.access.run_command_token or await doors.cluster_tokens().current("a cluster token")

    return token
