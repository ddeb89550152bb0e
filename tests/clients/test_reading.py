"""Reading over a real socket: the requests, the results, and the errors."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from azure.core.rest import HttpRequest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.transport import Wire
from handlers.clients.errors import (
    ArmError,
    Denied,
    Garbled,
    NotARead,
    NotFound,
    Refused,
    ServerFault,
    TimedOut,
    Unreachable,
)
from handlers.clients.recording.case import Recorder
from handlers.engine.current import collecting
from handlers.model import Why
from handlers.resource_id import ResourceId
from tests.clients.azure import LocalAzure, PaperCredential, QuickClock, half, raw, refuses, says, text_of, waits_for

SUB = "00000000-0000-0000-0000-0000000000a1"
GROUP = f"/subscriptions/{SUB}/resourceGroups/rg-prod"
CLUSTER = ResourceId.parse(f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu")


async def test_a_resource_comes_with_its_source_and_time(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, says({"id": GROUP, "location": "westeurope"}, etag='"1"', set_cookie="a=b"))
    before = datetime.now(UTC)
    answer = await arm.get(GROUP, "2024-03-01", params={"$expand": "a b"})
    assert answer.body == {"id": GROUP, "location": "westeurope"}
    assert answer.source == f"GET {GROUP}?api-version=2024-03-01&$expand=a b"
    assert before <= answer.taken_at <= datetime.now(UTC)
    assert answer.headers["etag"] == '"1"'
    assert "set-cookie" not in answer.headers
    assert parse_qs(urlsplit(azure.asked[0].raw_path).query) == {"api-version": ["2024-03-01"], "$expand": ["a b"]}


async def test_each_call_is_logged_with_the_evidence_it_is_for(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, says({"id": GROUP}))
    collecting.set("AgentPools")
    await arm.get(GROUP, "2024-03-01")
    (call,) = arm.calls
    assert (call.kind, call.method, call.path, call.status) == ("AgentPools", "GET", GROUP, 200)
    assert call.request_id == azure.asked[0].headers["x-ms-client-request-id"]
    assert call.started < call.ended
    assert len(arm.calls) == arm.calls.count == 1


async def test_a_cluster_is_read_through_the_typed_client(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(str(CLUSTER), says({"id": str(CLUSTER), "name": "prod-weu", "later": {"unknown": 1}}))
    answer = await arm.managed_cluster(CLUSTER)
    assert answer.body["later"] == {"unknown": 1}
    assert azure.asked[0].raw_path.startswith(f"{CLUSTER}?api-version=20")
    assert azure.asked[0].headers["Authorization"] == "Bearer token-1"


async def test_pools_come_from_all_pages_also_behind_a_doubled_token_and_an_empty_last_page(
    azure: LocalAzure, arm: ArmReader
) -> None:
    path = f"{CLUSTER}/agentPools"
    link = f"{azure.url}{path}?%24skipToken=20377533&api-version=2025-03-01&skipToken=20377533"
    azure.reply(path, says({"value": [{"name": "apps"}], "nextLink": link}), says({"value": []}))
    pools = await arm.agent_pools(CLUSTER)
    assert [pool["name"] for pool in pools.items] == ["apps"]
    assert not pools.truncated
    assert azure.count(path) == 2


async def test_clusters_of_a_subscription_are_listed(azure: LocalAzure, arm: ArmReader) -> None:
    path = f"/subscriptions/{SUB}/providers/Microsoft.ContainerService/managedClusters"
    azure.reply(path, says({"value": [{"name": "prod-weu"}, {"name": "prod-eus2"}]}))
    listing = await arm.managed_clusters(SUB)
    assert [one["name"] for one in listing.items] == ["prod-weu", "prod-eus2"]


async def test_a_next_link_is_followed_as_it_came(azure: LocalAzure, arm: ArmReader) -> None:
    path = f"{GROUP}/resources"
    token = "%24skiptoken=ab%2Bc%2F%3D%3D%24%7e&%24top=10"
    azure.reply(path, says({"value": [1], "nextLink": f"{azure.url}{path}?{token}"}), says({"value": [2]}))
    listing = await arm.list(path, "2021-04-01")
    assert listing.items == (1, 2)
    assert azure.asked[1].raw_path == f"{path}?{token}"


async def test_an_empty_page_with_a_link_is_not_the_end(azure: LocalAzure, arm: ArmReader) -> None:
    path = f"{GROUP}/resources"
    azure.reply(path, says({"value": [], "nextLink": f"{azure.url}{path}?$skiptoken=2"}), says({"value": [3]}))
    assert (await arm.list(path, "2021-04-01")).items == (3,)


async def test_links_that_lead_in_a_circle_end_and_say_so(azure: LocalAzure, arm: ArmReader) -> None:
    path = f"{GROUP}/resources"
    azure.reply(path, says({"value": [1], "nextLink": f"{azure.url}{path}?$skiptoken=same"}))
    listing = await arm.list(path, "2021-04-01")
    assert listing.truncated
    assert azure.count(path) == 2


async def test_a_list_that_is_cut_says_so(azure: LocalAzure, arm: ArmReader) -> None:
    path = f"{GROUP}/resources"
    azure.reply(path, says({"value": [1, 2, 3]}))
    cut = await arm.list(path, "2021-04-01", most=2)
    assert cut.items == (1, 2)
    assert cut.truncated
    whole = await arm.list(path, "2021-04-01", most=3)
    assert not whole.truncated


async def test_a_link_to_another_host_gets_no_token(azure: LocalAzure, arm: ArmReader) -> None:
    path = f"{GROUP}/resources"
    azure.reply(path, says({"value": [1], "nextLink": "https://example.com/steal"}))
    with pytest.raises(Refused, match="leads away"):
        await arm.list(path, "2021-04-01")


async def test_an_answer_without_a_list_is_not_an_empty_list(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, says({"id": GROUP}))
    with pytest.raises(Garbled, match="no list"):
        await arm.list(GROUP, "2021-04-01")


async def test_a_query_is_the_only_kind_of_post(azure: LocalAzure, arm: ArmReader) -> None:
    path = "/providers/Microsoft.ResourceGraph/resources"
    azure.reply(path, says({"data": []}))
    answer = await arm.query(path, "2022-10-01", {"query": "Resources"})
    assert answer.body == {"data": []}
    assert text_of(azure.asked[0]) == {"query": "Resources"}
    for write in (f"{CLUSTER}/listClusterAdminCredential", f"{CLUSTER}/runCommand", f"{GROUP}/x/queryResults"):
        with pytest.raises(NotARead):
            await arm.query(write, "2024-01-01", {})
    assert {one.method for one in azure.asked} == {"POST"}
    assert len(azure.asked) == 1


async def test_the_activity_log_comes_newest_first_each_event_once_and_without_claims(
    azure: LocalAzure, arm: ArmReader
) -> None:
    path = f"/subscriptions/{SUB}/providers/Microsoft.Insights/eventtypes/management/values"
    first = {"eventDataId": "b", "eventTimestamp": "2026-11-18T09:00:00.5Z", "properties": {"statusCode": "Conflict"}}
    newer = {"eventDataId": "a", "eventTimestamp": "2026-11-18T09:00:00.51Z"}
    azure.reply(
        path,
        says(
            {"nextLink": f"{azure.url}{path}?api-version=2015-04-01&$skipToken=AS1:x;EU1:-1", "value": [first, first]}
        ),
        says({"value": [newer, {"eventDataId": "c", "eventTimestamp": "2026-11-18T08:59:59Z"}]}),
    )
    until = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
    log = await arm.activity(SUB, group="rg-prod", since=until - timedelta(hours=24), until=until)
    assert [event["eventDataId"] for event in log.items] == ["a", "b", "c"]
    assert log.items[1]["properties"] == {"statusCode": "Conflict"}
    query = parse_qs(urlsplit(azure.asked[0].raw_path).query)
    assert query["$filter"][0].split(" and ") == [
        "eventTimestamp ge '2026-11-17T09:30:00Z'",
        "eventTimestamp le '2026-11-18T09:30:00Z'",
        "resourceGroupName eq 'rg-prod'",
    ]
    assert "claims" not in query["$select"][0].split(",")
    assert azure.asked[1].raw_path.endswith("$skipToken=AS1:x;EU1:-1")


async def test_a_denied_read_names_the_action(azure: LocalAzure, arm: ArmReader) -> None:
    action = "Microsoft.Network/virtualNetworks/read"
    azure.reply(
        GROUP,
        refuses(
            403,
            "AuthorizationFailed",
            f"The client 'bot' with object id 'x' does not have authorization to perform action '{action}' "
            f"over scope '{GROUP}' or the scope is invalid.",
        ),
    )
    with pytest.raises(Denied) as caught:
        await arm.get(GROUP, "2024-03-01")
    unavailable = caught.value.unavailable
    assert (unavailable.why, unavailable.grant) == (Why.DENIED, action)
    assert unavailable.detail.startswith("403 AuthorizationFailed: The client 'bot'")
    assert azure.count(GROUP) == 1


async def test_a_linked_denial_names_the_linked_action(azure: LocalAzure, arm: ArmReader) -> None:
    message = (
        "The client has permission to perform action 'Microsoft.A/write' on scope 's'; however, it does not have "
        "permission to perform action 'Microsoft.Network/subnets/join/action' on the linked scope(s) 'l'"
    )
    azure.reply(GROUP, refuses(403, "LinkedAuthorizationFailed", message))
    with pytest.raises(Denied) as caught:
        await arm.get(GROUP, "2024-03-01")
    assert caught.value.unavailable.grant == "Microsoft.Network/subnets/join/action"


async def test_the_bare_error_of_aks_is_understood(azure: LocalAzure, arm: ArmReader) -> None:
    bare = {"code": "NotFound", "details": None, "message": "Could not find\r\n agent pool", "subcode": "X"}
    azure.reply(str(CLUSTER), says(bare, 404))
    with pytest.raises(NotFound) as caught:
        await arm.managed_cluster(CLUSTER)
    assert caught.value.code == "NotFound"
    assert caught.value.detail == "404 NotFound: Could not find agent pool"
    assert caught.value.unavailable.wanted == "Microsoft.ContainerService/managedClusters/prod-weu"


async def test_other_refusals_keep_their_code(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, refuses(400, "InvalidApiVersionParameter", "no such version"))
    with pytest.raises(Refused) as caught:
        await arm.get(GROUP, "1999-01-01")
    assert caught.value.code == "InvalidApiVersionParameter"


async def test_an_unregistered_provider_is_told_and_never_registered(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(str(CLUSTER), refuses(409, "MissingSubscriptionRegistration", "not registered to use namespace"))
    with pytest.raises(Refused, match="409 MissingSubscriptionRegistration"):
        await arm.managed_cluster(CLUSTER)
    assert [one.method for one in azure.asked] == ["GET"]


@pytest.mark.parametrize("content", [b"", b"   ", b'{"value": [', b"null", b"<html><body>sign in</body></html>"])
async def test_two_hundred_without_an_answer_is_garbled(azure: LocalAzure, arm: ArmReader, content: bytes) -> None:
    azure.reply(GROUP, raw(content))
    with pytest.raises(Garbled):
        await arm.get(GROUP, "2024-03-01")


async def test_half_a_body_is_asked_again_and_then_garbled(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, half())
    with pytest.raises(Garbled, match="broke off"):
        await arm.get(GROUP, "2024-03-01")
    assert azure.count(GROUP) == 4


async def test_a_web_page_with_503_is_a_server_fault(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(GROUP, raw(b"<html>Service Unavailable</html>", 503, "text/html"))
    with pytest.raises(ServerFault, match="503: a web page"):
        await arm.get(GROUP, "2024-03-01")


async def test_no_connection_and_bad_tls_are_unreachable(
    azure: LocalAzure, access: AzureAccess, credential: PaperCredential, clock: QuickClock
) -> None:
    for other in (
        AzureAccess(resource_manager="https://127.0.0.1:9", ca_bundle=access.ca_bundle),
        AzureAccess(resource_manager=azure.url),
    ):
        async with ArmReader(other, credential=credential, clock=clock) as arm:
            with pytest.raises(Unreachable) as caught:
                await arm.get(GROUP, "2024-03-01")
            assert caught.value.unavailable.why is Why.FAILED
            assert caught.value.detail.startswith(("no connection", "TLS"))


async def test_no_answer_in_time_is_a_timeout(azure: LocalAzure, access: AzureAccess) -> None:
    azure.reply(GROUP, waits_for(asyncio.Event(), says({})))
    wire = Wire(access.ca_bundle, read_s=0.05)
    with pytest.raises(TimedOut, match=r"no answer within 0\.05 s"):
        await wire.send(HttpRequest("GET", azure.url + GROUP))
    await wire.close()


async def test_nothing_secret_reaches_an_answer_an_error_a_recording_or_a_log(
    azure: LocalAzure, access: AzureAccess, credential: PaperCredential, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    planted = "hunter2-0123456789"
    inside = json.dumps({"error": {"message": f"clientSecret={planted}"}})
    azure.reply(GROUP, says({"tags": {"db-password": planted}, "statusMessage": inside}, x_secret=planted))
    azure.reply(f"{GROUP}/no", refuses(400, "Bad", f"the password '{planted}' and adminPassword={planted} are wrong"))
    azure.reply(f"{GROUP}/odd", raw(f"<html>token={planted}</html>".encode()))
    recorder, seen = Recorder(), ""
    async with ArmReader(access, credential=credential, recorder=recorder) as arm:
        seen += str(await arm.get(GROUP, "2024-03-01"))
        for path in ("no", "odd"):
            with pytest.raises(ArmError) as caught:
                await arm.get(f"{GROUP}/{path}", "2024-03-01")
            seen += repr(caught.value) + str(caught.value.answer) + str(caught.value.unavailable)
    assert planted not in seen + str(recorder.recording.as_mapping()) + caplog.text
    assert "token-1" not in seen + caplog.text
    assert "[redacted:password]" in seen
