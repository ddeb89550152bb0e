"""The one pipeline to Azure. Every call passes these policies, outermost first:

RefuseWrites           a reader sends nothing that may change Azure
AskInAnOfferedVersion  repeats a read in an older api-version where the cloud lags behind
Record                 keeps requests and answers, if a recording is wanted
ShareEqualReads        one call for equal reads, one answer for a few seconds
RetryReads             repeats transient failures within the deadline
Pace                   slows down before a budget is used up; inside the retry, so that each attempt queues
Bearer                 adds the token
NoteCall               counts each call that goes over the wire, and only those
Understand             redacts, and raises errors for failures
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
    """A pipeline and the resources to close with it."""

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
    """The pipeline of a reader."""
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
        Understand(callers=recorder is None),
    ]
    return Pipe(policies, wire, tokens, shared)


def confidential(beside: Pipe, access: AzureAccess, calls: CallLog, clock: Clock) -> Pipe:
    """For a read whose answer is a secret: a reader's wire and token, without caching, recording or logging."""
    signed = [Bearer(beside.tokens, access.endpoint)] if beside.tokens else []
    versions = AskInAnOfferedVersion(access.versions, any_method=True)
    return Pipe([versions, RetryReads(clock), *signed, NoteCall(calls), UnderstandRaw()], beside.transport, None)


def beside(pipe: Pipe, endpoint: str, tokens: Tokens, calls: CallLog, clock: Clock, recorder: Recorder | None) -> Pipe:
    """For another service of Azure: a reader's wire and identity, with a token for that service alone."""
    policies: list[Policy] = [
        RefuseWrites(),
        *([Record(recorder)] if recorder else []),
        RetryReads(clock),
        Bearer(tokens, endpoint),
        NoteCall(calls),
        Understand(),
    ]
    return Pipe(policies, pipe.transport, tokens)


def replaying(transport: Transport, calls: CallLog, *, recorder: Recorder | None) -> Pipe:
    """The pipeline for a recording: nothing to sign, wait for or retry."""
    policies: list[Policy] = [
        RefuseWrites(),
        AskInAnOfferedVersion(OfferedVersions(), recorder),
        *([Record(recorder)] if recorder else []),
        NoteCall(calls),
        Understand(),
    ]
    return Pipe(policies, transport, None)


def writing(access: AzureAccess, calls: CallLog, *, given: AsyncTokenCredential | None) -> Pipe:
    """The pipeline of a writer: sign, count, send once. No retry, cache or redaction; older versions for reads only."""
    wire = Wire(access.ca_bundle)
    tokens = tokens_for(access, wire, given)
    policies: list[Policy] = [
        AskInAnOfferedVersion(access.versions),
        Bearer(tokens, access.endpoint),
        NoteCall(calls, new_id=False),
        UnderstandRaw(),
    ]
    return Pipe(policies, wire, tokens)
