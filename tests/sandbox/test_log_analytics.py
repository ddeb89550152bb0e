"""The query API of Log Analytics: an audience of its own, workspaces by their id, tables that exist once written."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from sandbox.arm.server import ArmServer
from tests.handlers.diagnose.test_api_server_logs import GUID, QUERY, WORKSPACE, line, world
from tests.sandbox_calls import trusting

Ask = Callable[..., Awaitable[tuple[int, Any]]]
ERRORS = "AKSControlPlane | where Level == 'ERROR' | project TimeGenerated, Message | take 10"


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with ArmServer(world(line("one"), line("two", Level="INFO"))) as server:
        yield server


@pytest.fixture
async def ask(arm: ArmServer) -> AsyncIterator[Ask]:
    assert arm.log_analytics is not None
    url = arm.log_analytics.url
    async with trusting(arm.ca_file) as session:

        async def asked(
            query: Any = ERRORS, *, workspace: str = GUID, audience: str = url, token: str | None = None, **more: str
        ) -> tuple[int, Any]:
            sent = arm.token("reader", audience) if token is None else token
            headers = {"Authorization": f"Bearer {sent}"} if sent else {}
            path = f"{url}/v1/workspaces/{workspace}/query"
            async with session.post(path, json={"query": query, **more}, headers=headers) as response:
                return response.status, await response.json()

        yield asked


async def test_the_answer_is_a_table_of_columns_and_rows(ask: Ask) -> None:
    status, body = await ask()
    (table,) = body["tables"]
    assert status == 200
    assert table["name"] == "PrimaryResult"
    assert table["columns"] == [{"name": "TimeGenerated", "type": "datetime"}, {"name": "Message", "type": "string"}]
    assert [row[1] for row in table["rows"]] == ["one"]


async def test_a_token_for_azure_resource_manager_is_refused(ask: Ask, arm: ArmServer) -> None:
    status, body = await ask(audience=arm.url)
    assert (status, body["error"]["code"]) == (403, "InvalidTokenError")
    status, body = await ask(token="")
    assert (status, body["error"]["code"]) == (401, "AuthenticationFailed")


async def test_a_workspace_is_known_by_its_id_and_not_by_its_name(ask: Ask) -> None:
    status, body = await ask(workspace="law-prod")
    assert (status, body["error"]["code"]) == (404, "WorkspaceNotFoundError")


@pytest.mark.parametrize(
    ("query", "inner"),
    [
        ("AKSAudit | take 1", "SemanticError"),
        ("Nonsense_CL | where TimeGenerated == 'x'", "SemanticError"),
        ("AKSControlPlane | where NoSuchColumn == 'x'", "SemanticError"),
        ("AKSControlPlane | summarize count()", "SyntaxError"),
    ],
)
async def test_what_it_cannot_answer_it_refuses_with_the_reason_inside(ask: Ask, query: str, inner: str) -> None:
    status, body = await ask(query)
    assert (status, body["error"]["code"]) == (400, "BadArgumentError")
    assert body["error"]["innererror"]["code"] == inner


async def test_a_table_that_nothing_was_sent_to_does_not_exist(ask: Ask, arm: ArmServer) -> None:
    arm.world.logs.clear()
    assert (await ask())[0] == 200
    arm.world.logs_empty.add(WORKSPACE.lower())
    _, body = await ask()
    assert body["error"]["innererror"]["innererror"]["code"] == "SEM0100"


async def test_the_permission_is_that_of_the_workspace_and_of_the_table(ask: Ask, arm: ArmServer) -> None:
    arm.deny("reader", QUERY.replace("/read", "/AKSControlPlane/read"))
    assert (await ask())[1]["error"]["code"] == "InsufficientAccessError"


async def test_only_what_lies_in_the_span_is_answered(ask: Ask) -> None:
    _, body = await ask(timespan="2020-01-01T00:00:00Z/2020-01-02T00:00:00Z")
    assert body["tables"][0]["rows"] == []
    assert (await ask(timespan="yesterday"))[0] == 400


async def test_an_answer_in_part_is_a_200_with_an_error_in_it(ask: Ask, arm: ArmServer) -> None:
    arm.world.logs_in_part = True
    status, body = await ask()
    assert (status, body["error"]["code"]) == (200, "PartialError")
    assert body["tables"][0]["rows"]


async def test_it_is_asked_by_post_alone(arm: ArmServer) -> None:
    assert arm.log_analytics is not None
    url = arm.log_analytics.url
    headers = {"Authorization": f"Bearer {arm.token('reader', url)}"}
    async with (
        trusting(arm.ca_file) as session,
        session.get(f"{url}/v1/workspaces/{GUID}/query", headers=headers) as got,
    ):
        assert got.status == 405
