"""Records what a cluster answered, and answers from such a recording. No host name is part of it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from handlers.clients.errors import ArmError, ServerFault, Unreachable
from handlers.clients.kube.door.unreachable import unreachable
from handlers.clients.kube.paths import ApiPath
from handlers.clients.kube.refusals import CREDENTIAL
from handlers.clients.kube.reply import Reply
from handlers.clients.redact import redact, redact_text

if TYPE_CHECKING:
    from azure.core.rest import AsyncHttpResponse

    from handlers.clients.arm.pipe import Transport
    from handlers.clients.recording.case import Recorder

PREFIX = "/kube:"
"""Stands before the path, so that no address of Azure is ever equal to it. Alone: how the server was reached."""
MOST_OF_A_LIST = 16_000_000
"""Bytes: some 8,000 pods. A recording is kept in memory until it is written, ten times as big as on disk."""
TEXT = "text/plain"
ENDS = "the recording of this list ends here"
CONTEXT = f"{PREFIX}context"
"""Whether a kubeconfig of one's own led there; asked for clusters whose credential Azure does not hand out."""
_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class ListCut(ServerFault):
    """The list goes on, but the rest was not read (or not kept)."""


class AnswerRecorder:
    """Gives answers to the recorder, redacted and without the bulk that no check reads."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def reached(self, how: str, trouble: ArmError | None) -> None:
        """How the server was reached, and why not directly."""
        reply = Reply(200, {"content-type": "application/json"}, b"")
        self._answered("GET", "", None, reply, {"reached": how, "trouble": trouble.detail if trouble else ""})

    def page(self, target: str, reply: Reply, follows: str) -> int:
        """One page of a list, and its size. `follows` is the next page's address in the recording."""
        body = orjson.loads(reply.content)
        for item in body["items"]:
            _without_bulk(item)
        clean = redact(body)
        meta = clean.get("metadata") or {}
        clean = {**clean, "metadata": {**meta, "continue": follows}}
        self._answered("GET", target, None, reply, clean)
        return len(orjson.dumps(clean))

    def answer(self, method: str, target: str, body: Any, reply: Reply) -> None:
        self._answered(method, target, body, reply, redact(orjson.loads(reply.content)))

    def text(self, target: str, reply: Reply) -> None:
        plain = replace(reply, headers={**reply.headers, "content-type": TEXT})
        self._answered("GET", target, None, plain, redact_text(reply.content.decode("utf-8", errors="replace")))

    def failed(self, method: str, target: str, body: Any, error: ArmError) -> None:
        """A failure before the server was reached (no kubeconfig from Azure) must not look like an answer of the
        server.
        """
        if isinstance(error, ServerFault) and error.unavailable.wanted != ApiPath.at(target).wanted:
            error = ServerFault(error.unavailable.wanted, error.detail)
        self._recorder.failed(method, PREFIX + target, _packed(body), error)

    def cut_off(self, method: str, target: str, body: Any) -> None:
        self._recorder.cut_off(method, PREFIX + target, _packed(body))

    def list_cut(self, target: str) -> None:
        self.failed("GET", target, None, ListCut(ApiPath.at(target).wanted, ENDS))

    def _answered(self, method: str, target: str, body: Any, reply: Reply, clean: Any) -> None:
        name, headers = PREFIX + target, reply.headers
        self._recorder.answered(method, name, _packed(body), reply.status, headers, clean, reply.taken_at)


class RecordedWay:
    """Answers from a recording alone."""

    azure_calls = 0

    def __init__(self, transport: Transport) -> None:
        self.reached = ""
        self.trouble: ArmError | None = None
        self._transport = transport
        self._asked = False

    async def send(self, method: str, target: str, body: Mapping[str, Any] | None, accept: str = "") -> Reply:
        if not self._asked:
            self._asked = True
            await self._learn()
        try:
            answer = await self._recall(method, target, body, accept)
        except Unreachable as error:
            self.trouble = unreachable(error.detail)
            raise self.trouble from None
        except ArmError as error:
            wanted = ApiPath.at(target).wanted
            if error.detail == ENDS:
                raise ListCut(wanted, ENDS) from None
            error.unavailable = replace(error.unavailable, wanted=wanted)
            raise
        headers = {name.lower(): value for name, value in answer.headers.items()}
        taken_at = getattr(answer, "taken_at", None)
        content = _text(answer.content, headers)
        return Reply(answer.status_code, headers, content, **({"taken_at": taken_at} if taken_at else {}))

    async def _recall(
        self, method: str, target: str, body: Mapping[str, Any] | None, accept: str = ""
    ) -> AsyncHttpResponse:
        from azure.core.rest import HttpRequest

        headers = {"Accept": accept} if accept else {}
        return await self._transport.send(HttpRequest(method, PREFIX + target, headers=headers, content=_packed(body)))

    async def _learn(self) -> None:
        """Read how the server was reached. A recording that does not say so was written by hand, or never got there."""
        try:
            answer = await self._recall("GET", "", None)
        except ArmError:
            return
        body = answer.json() if answer.status_code == 200 else None
        if isinstance(body, dict):
            self.reached = str(body.get("reached") or "")
            self.trouble = unreachable(str(body["trouble"])) if body.get("trouble") else None

    async def close(self) -> None:
        """The recording belongs to whoever opened it."""


async def context_kept(recorder: Recorder, asked: Awaitable[bool]) -> bool:
    """The answer, or its failure, which is recorded first."""
    try:
        found = await asked
    except ArmError as error:
        recorder.failed("GET", CONTEXT, None, error)
        raise
    recorder.answered("GET", CONTEXT, None, 200, {}, {"context": found}, datetime.now(UTC))
    return found


async def had_context(transport: Transport) -> bool:
    """What `context_kept` recorded."""
    from azure.core.rest import HttpRequest

    try:
        answer = await transport.send(HttpRequest("GET", CONTEXT))
    except ArmError as error:
        error.unavailable = replace(error.unavailable, wanted=CREDENTIAL)
        raise
    return bool(answer.json()["context"])


def _packed(body: Any) -> str | None:
    return None if body is None else orjson.dumps(body).decode()


def _text(content: bytes, headers: Mapping[str, str]) -> bytes:
    """A text was recorded as a JSON string, unless it is the body of a refusal."""
    if headers.get("content-type") != TEXT or not content.startswith(b'"'):
        return content
    try:
        text = orjson.loads(content)
    except orjson.JSONDecodeError:
        return content
    return text.encode() if isinstance(text, str) else content


def _without_bulk(item: Any) -> None:
    meta = item.get("metadata") if isinstance(item, dict) else None
    if not isinstance(meta, dict):
        return
    meta.pop("managedFields", None)
    if isinstance(meta.get("annotations"), dict):
        meta["annotations"].pop(_APPLIED, None)
