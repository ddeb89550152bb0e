from __future__ import annotations

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import refusal


async def test_a_file_is_uploaded_into_a_thread(client: AsyncWebClient, control: Control) -> None:
    channel = control.team.channel("incidents").id
    head = control.say("requester", "incidents", "head")
    await client.files_upload_v2(
        channel=channel, thread_ts=head.ts, filename="report.txt", content="all of it", initial_comment="The whole"
    )
    [file] = control.files("incidents", head.ts)
    assert (file.name, file.content) == ("report.txt", b"all of it")
    assert control.thread("incidents", head.ts)[-1].text == "The whole"
    assert control.thread("incidents", head.ts)[-1].subtype == "file_share"


async def test_an_upload_takes_exactly_what_was_announced_once(slack: SlackServer, client: AsyncWebClient) -> None:
    url = (await client.files_getUploadURLExternal(filename="a.txt", length=3))["upload_url"]
    statuses = []
    async with aiohttp.ClientSession() as session:
        for content in (b"four", b"abc", b"abc"):
            async with session.post(url, data=content) as response:
                statuses.append(response.status)
    assert statuses == [400, 200, 404]


@pytest.mark.parametrize(
    ("channel", "error"),
    [("general", "not_in_channel"), ("old-incidents", "is_archived"), ("leads-private", "channel_not_found")],
)
async def test_where_a_file_may_not_be_shared(
    client: AsyncWebClient, control: Control, channel: str, error: str
) -> None:
    where = control.team.channel(channel).id
    call = client.files_upload_v2(channel=where, filename="a.txt", content="x")
    assert (await refusal(call))["error"] == error


async def test_a_file_that_was_not_sent_cannot_be_shared(client: AsyncWebClient) -> None:
    file_id = (await client.files_getUploadURLExternal(filename="a.txt", length=3))["file_id"]
    unsent = await refusal(client.files_completeUploadExternal(files=[{"id": file_id, "title": "a"}]))
    unknown = await refusal(client.files_completeUploadExternal(files=[{"id": "F0NONE", "title": "a"}]))
    empty = await refusal(client.files_getUploadURLExternal(filename="a.txt", length=0))
    assert [one["error"] for one in (unsent, unknown, empty)] == [
        "file_not_uploaded",
        "file_not_found",
        "invalid_arguments",
    ]
