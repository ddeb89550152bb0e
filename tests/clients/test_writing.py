"""Writes are sent once; operations are read by each provider's own rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.operation import State, Via
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.errors import (
    CredentialRefused,
    Garbled,
    Refused,
    ServerFault,
    Throttled,
    Unreachable,
    WriteFateUnknown,
)
from tests.clients.azure import (
    Handler,
    LocalAzure,
    PaperCredential,
    QuickClock,
    half,
    hangs_up,
    raw,
    refuses,
    says,
    text_of,
)

SUB = "00000000-0000-0000-0000-0000000000a1"
CLUSTER = f"/subscriptions/{SUB}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/prod-weu"
OPERATION = f"/subscriptions/{SUB}/providers/Microsoft.ContainerService/locations/westeurope/operations/1"
SIGNED = "api-version=2025-03-01&t=638&c=MII%2bx&s=ab%2Fc%3d&h=z%7e"
VERSION = "2026-08-01"


@pytest.fixture
async def writer(access: AzureAccess, credential: PaperCredential, clock: QuickClock) -> AsyncIterator[ArmWriter]:
    async with ArmWriter(access, credential=credential, clock=clock) as arm:
        yield arm


def follow(azure: LocalAzure, *polls: Handler, status: int = 200, **headers: str) -> None:
    link = {"azure_asyncoperation": f"{azure.url}{OPERATION}?{SIGNED}"}
    azure.reply(CLUSTER, says({"properties": {"provisioningState": "Updating"}}, status, **link, **headers))
    azure.reply(OPERATION, *polls)


def status(text: str, **more: Any) -> Handler:
    return says({"name": "1", "status": text, **more})


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (refuses(503, "ServiceUnavailable", "later"), ServerFault),
        (refuses(500, "InternalServerError", "oops"), ServerFault),
        (refuses(429, "TooManyRequests", "slow down", retry_after="1"), Throttled),
        (refuses(409, "MissingSubscriptionRegistration", "register Microsoft.X"), Refused),
        (refuses(401, "ExpiredAuthenticationToken", "The access token has expired"), CredentialRefused),
        (refuses(502, "BadGateway", "lost it"), WriteFateUnknown),
        (refuses(504, "GatewayTimeout", "lost it"), WriteFateUnknown),
        (hangs_up(), WriteFateUnknown),
        (half(), WriteFateUnknown),
        (raw(b'{"id": '), WriteFateUnknown),
    ],
)
@pytest.mark.parametrize("method", ["put", "post", "patch", "delete"])
async def test_a_write_is_sent_once_whatever_comes_back(
    azure: LocalAzure, writer: ArmWriter, method: str, answer: Handler, error: type[Exception]
) -> None:
    azure.reply(CLUSTER, answer)
    arguments: tuple[Any, ...] = () if method == "delete" else ({"location": "westeurope"},)
    with pytest.raises(error) as caught:
        await getattr(writer, method)(CLUSTER, VERSION, *arguments)
    assert [one.method.lower() for one in azure.asked] == [method]
    assert writer.calls.count == 1
    if isinstance(caught.value, WriteFateUnknown):
        assert caught.value.request_id == azure.asked[0].headers["x-ms-client-request-id"]


async def test_a_write_over_a_kept_connection_that_died_is_not_sent_again(azure: LocalAzure, writer: ArmWriter) -> None:
    azure.reply(CLUSTER, says({"id": CLUSTER}), hangs_up())
    await writer.get(CLUSTER, VERSION)
    with pytest.raises(WriteFateUnknown):
        await writer.put(CLUSTER, VERSION, {})
    assert [one.method for one in azure.asked] == ["GET", "PUT"]


async def test_a_write_that_was_never_sent_says_so(credential: PaperCredential) -> None:
    nowhere = AzureAccess(resource_manager="https://127.0.0.1:9")
    async with ArmWriter(nowhere, credential=credential) as arm:
        with pytest.raises(Unreachable):
            await arm.put(CLUSTER, VERSION, {})


async def test_the_raw_body_goes_back_as_it_came(azure: LocalAzure, writer: ArmWriter) -> None:
    body = {"properties": {"secret": "hunter2", "mail": "a@example.com"}, "etag": "1"}
    azure.reply(CLUSTER, says(body))
    read = await writer.get(CLUSTER, VERSION)
    assert read == body
    await writer.put(CLUSTER, VERSION, read, if_match='"1"')
    assert text_of(azure.asked[1]) == body
    assert azure.asked[1].headers["If-Match"] == '"1"'


async def test_a_redacted_body_is_never_written_back(azure: LocalAzure, writer: ArmWriter) -> None:
    with pytest.raises(ValueError, match="redacted"):
        await writer.put(CLUSTER, VERSION, {"properties": {"secret": "[redacted:secret]"}})
    assert not azure.asked


async def test_an_empty_answer_is_no_body_to_send_back(azure: LocalAzure, writer: ArmWriter) -> None:
    azure.reply(CLUSTER, raw(b""))
    with pytest.raises(Garbled):
        await writer.get(CLUSTER, VERSION)


async def test_errors_of_a_write_are_redacted(azure: LocalAzure, writer: ArmWriter) -> None:
    azure.reply(CLUSTER, refuses(400, "InvalidParameter", "bad adminPassword=hunter2secret for a@example.com"))
    with pytest.raises(Refused) as caught:
        await writer.put(CLUSTER, VERSION, {})
    assert caught.value.detail == "400 InvalidParameter: bad adminPassword=[redacted:password] for [redacted:email]"


async def test_free_text_means_running_and_a_stale_error_is_no_failure(
    azure: LocalAzure, writer: ArmWriter, clock: QuickClock
) -> None:
    stale = {"error": {"code": "NotLatestOperation", "message": "x"}}
    follow(
        azure,
        status("ReconcilingDNS"),
        status("RollingUpgradeUpgradingNodes: 2/3 nodes completed; 0 errors", **stale),
        status("InProgress", endTime="2026-11-18T09:00:00Z", **stale),
        status("Succeeded", **stale),
    )
    operation = await writer.put(CLUSTER, VERSION, {})
    progress = await operation.wait()
    assert (progress.state, progress.error, progress.said) == (State.SUCCEEDED, "", "Succeeded")
    assert clock.waits == [writer.interval_s] * 4
    assert {one.raw_path for one in azure.asked[1:]} == {f"{OPERATION}?{SIGNED}"}


async def test_a_failed_operation_says_why(azure: LocalAzure, writer: ArmWriter) -> None:
    follow(azure, status("Failed", error={"code": "QuotaExceeded", "message": "no cores"}), status=201)
    progress = await (await writer.put(CLUSTER, VERSION, {})).wait()
    assert (progress.state, progress.error) == (State.FAILED, "QuotaExceeded: no cores")


async def test_a_canceled_operation_with_an_empty_error_is_canceled(azure: LocalAzure, writer: ArmWriter) -> None:
    follow(azure, status("Canceled", error={}))
    progress = await (await writer.post(f"{CLUSTER}", VERSION)).wait()
    assert (progress.state, progress.error) == (State.CANCELED, "canceled, and no reason was given")


async def test_a_gateways_trouble_on_a_poll_does_not_end_the_operation(azure: LocalAzure, writer: ArmWriter) -> None:
    follow(
        azure,
        refuses(502, "BadGatewayConnection", "x"),
        raw(b"<html>503</html>", 503, "text/html"),
        raw(b"<html>fine</html>", 200, "text/html"),
        refuses(504, "GatewayTimeout", "x"),
        hangs_up(),
        refuses(429, "TooManyRequests", "x"),
        status("Succeeded"),
    )
    assert (await (await writer.put(CLUSTER, VERSION, {})).wait()).state is State.SUCCEEDED


async def test_polls_that_never_get_through_end_with_the_reason(azure: LocalAzure, writer: ArmWriter) -> None:
    follow(azure, refuses(502, "BadGateway", "x"))
    operation = await writer.put(CLUSTER, VERSION, {})
    with pytest.raises(ServerFault):
        await operation.wait()
    assert not operation.ended


async def test_the_wait_that_azure_asks_for_is_kept(azure: LocalAzure, writer: ArmWriter, clock: QuickClock) -> None:
    follow(
        azure,
        says({"status": "InProgress"}, retry_after="20"),
        says({"status": "InProgress"}, retry_after="1000"),
        says({"status": "Succeeded"}),
        retry_after="10",
    )
    await (await writer.put(CLUSTER, VERSION, {})).wait()
    assert clock.waits == [10, 20, 60]


async def test_a_location_is_followed_with_its_freshly_signed_urls(azure: LocalAzure, writer: ArmWriter) -> None:
    first, second = f"{OPERATION}?s=1", f"{OPERATION}results?s=2"
    azure.reply(CLUSTER, says(None, 202, location=f"{azure.url}{first}"))
    azure.reply(OPERATION, says({"progress": 1}, 202, location=f"{azure.url}{second}"))
    azure.reply(f"{OPERATION}results", raw(b"", 204))
    operation = await writer.delete(CLUSTER, VERSION)
    assert operation.progress.via is Via.LOCATION
    assert (await operation.wait()).state is State.SUCCEEDED
    assert [one.raw_path for one in azure.asked[1:]] == [first, second]


async def test_a_synchronous_write_has_ended_at_once(azure: LocalAzure, writer: ArmWriter) -> None:
    azure.reply(CLUSTER, says({"id": CLUSTER, "properties": {"provisioningState": "Succeeded"}}), raw(b"", 204))
    assert (await writer.patch(CLUSTER, VERSION, {})).progress.state is State.SUCCEEDED
    assert (await writer.delete(CLUSTER, VERSION)).ended


async def test_without_any_link_the_resource_itself_is_read(azure: LocalAzure, writer: ArmWriter) -> None:
    azure.reply(
        CLUSTER,
        says({"properties": {"provisioningState": "Updating"}}),
        says({"properties": {"provisioningState": "Updating"}}),
        says({"properties": {"provisioningState": "Failed"}}),
    )
    progress = await (await writer.put(CLUSTER, VERSION, {})).wait()
    assert (progress.state, progress.error) == (State.FAILED, "provisioningState Failed")


async def test_another_process_can_carry_on(azure: LocalAzure, access: AzureAccess, writer: ArmWriter) -> None:
    follow(azure, status("InProgress"), status("Succeeded"))
    known = (await writer.put(CLUSTER, VERSION, {})).progress
    async with ArmWriter(access, credential=PaperCredential(), clock=QuickClock()) as other:
        operation = other.resume(known.url, known.via, known.request_id)
        assert (await operation.wait()).state is State.SUCCEEDED
