"""The one way to Azure: every call passes these policies, outer to inner.

RefuseWrites           a reader sends nothing that may change Azure
AskInAnOfferedVersion  asks again in an older api-version where the cloud lags behind
Record                 keeps what was asked and answered, when somebody wants the recording
ShareEqualReads        one call for equal reads, one answer for a few seconds
RetryReads             asks again what failed for a moment, inside the deadline
Pace                   holds back before a budget is used up; inside the retry, so that each try queues
Bearer                 the token
NoteCall               counts each call that goes over the wire, and only those
Understand             redacts, and raises what is no answer
Wire                   sends once
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from azure.core.pipeline import AsyncPipeline
from azure.core.pipeline.policies import AsyncHTTPPolicy
from azure.core.pipeline.transport import AsyncHttpTransport
from azure.core.rest import AsyncHttpResponse, HttpRequest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.policies.ask_in_an_offered_version import AskInAnOfferedVersion
from handlers.clients.arm.policies.bearer import Bearer
from handlers.clients.arm.policies.note import NoteCall
from handlers.clients.arm.policies.pace import Pace
from handlers.clients.arm.policies.record import Record
from handlers.clients.arm.policies.refuse_writes import RefuseWrites
from handlers.clients.arm.policies.retry import RetryReads
from handlers.clients.arm.policies.share import ShareEqualReads
from handlers.clients.arm.policies.understand import Understand, UnderstandRaw
from handlers.clients.arm.transport import Wire
from handlers.clients.call_log import CallLog
from handlers.clients.clock import Clock
from handlers.clients.credential import credential
from handlers.clients.response import SeenResponse
from handlers.clients.tokens import Tokens
from handlers.clients.versions import OfferedVersions

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential

    from handlers.clients.recording.case import Recorder

Policy = AsyncHTTPPolicy[HttpRequest, AsyncHttpResponse]
Transport = AsyncHttpTransport[HttpRequest, AsyncHttpResponse]


class Pipe:
    """A pipeline and what has to be closed with it."""

    def __init__(
        self,
        policies: list[Policy],
        transport: Transport,
        tokens: Tokens | None,
        shared: ShareEqualReads | None = None,
    ) -> None:
        self.transport = transport
        self._pipeline = AsyncPipeline[HttpRequest, AsyncHttpResponse](transport, policies)
        self.tokens = tokens
        self._shared = shared

    async def send(self, request: HttpRequest) -> SeenResponse:
        response = (await self._pipeline.run(request)).http_response
        if not isinstance(response, SeenResponse):
            raise TypeError(f"a transport must give a SeenResponse, not {type(response).__name__}")
        return response

    async def close(self) -> None:
        if self._shared:
            await self._shared.close()
        if self.tokens:
            await self.tokens.close()
        await self.transport.close()


def tokens_for(access: AzureAccess, wire: Wire, given: AsyncTokenCredential | None, scope: str = "") -> Tokens:
    return Tokens(lambda: given or credential(access, wire.session), scope or access.scope)


def reading(
    access: AzureAccess,
    calls: CallLog,
    clock: Clock,
    *,
    fresh_for_s: float,
    recorder: Recorder | None,
    given: AsyncTokenCredential | None,
) -> Pipe:
    """The reader's way."""
    wire = Wire(access.ca_bundle)
    tokens = tokens_for(access, wire, given)
    shared = ShareEqualReads(clock, fresh_for_s)
    policies: list[Policy] = [
        RefuseWrites(),
        AskInAnOfferedVersion(access.versions, recorder),
        *([Record(recorder)] if recorder else []),
        shared,
        RetryReads(clock),
        Pace(clock),
        Bearer(tokens, access.endpoint),
        NoteCall(calls),
        Understand(),
    ]
    return Pipe(policies, wire, tokens, shared)


def confidential(beside: Pipe, access: AzureAccess, calls: CallLog, clock: Clock) -> Pipe:
    """For a read whose answer is a secret: a reader's wire and token, and nothing that redacts, keeps or records."""
    signed = [Bearer(beside.tokens, access.endpoint)] if beside.tokens else []
    versions = AskInAnOfferedVersion(access.versions, any_method=True)
    return Pipe([versions, RetryReads(clock), *signed, NoteCall(calls), UnderstandRaw()], beside.transport, None)


def replaying(transport: Transport, calls: CallLog, *, recorder: Recorder | None) -> Pipe:
    """The same without Azure: nothing to sign, to wait for or to ask twice."""
    policies: list[Policy] = [
        RefuseWrites(),
        AskInAnOfferedVersion(OfferedVersions(), recorder),
        *([Record(recorder)] if recorder else []),
        NoteCall(calls),
        Understand(),
    ]
    return Pipe(policies, transport, None)


def writing(access: AzureAccess, calls: CallLog, *, given: AsyncTokenCredential | None) -> Pipe:
    """The writer's way: sign, count, send once. No retry, no cache, no redaction; other versions for reads only."""
    wire = Wire(access.ca_bundle)
    tokens = tokens_for(access, wire, given)
    policies: list[Policy] = [
        AskInAnOfferedVersion(access.versions),
        Bearer(tokens, access.endpoint),
        NoteCall(calls, new_id=False),
        UnderstandRaw(),
    ]
    return Pipe(policies, wire, tokens)
