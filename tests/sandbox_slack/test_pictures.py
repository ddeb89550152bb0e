"""Images in blocks that are files of Slack's own: shown once Slack has processed them, and rejected until then."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.api.files import PROCESSING_S
from sandbox.slack.control import Control
from tests.sandbox_slack.apps import refusal

PNG = b"\x89PNG\r\n\x1a\n"


def image(file_id: str) -> list[dict[str, Any]]:
    return [{"type": "image", "slack_file": {"id": file_id}, "alt_text": "memory by node"}]


async def uploaded(client: AsyncWebClient, name: str = "memory.png") -> str:
    answer = await client.files_upload_v2(content=PNG, filename=name)
    return str(answer["files"][0]["id"])


async def test_an_image_is_refused_until_slack_has_taken_the_file_apart(
    client: AsyncWebClient, control: Control
) -> None:
    channel = control.team.channel("incidents").id
    file_id = await uploaded(client)
    stored = control.site.files[file_id]
    stored.ready_at = control.site.clock.now() + 3600
    assert (await client.files_info(file=file_id))["file"]["mimetype"] == ""
    refused = await refusal(client.chat_postMessage(channel=channel, text="memory", blocks=image(file_id)))
    assert refused["error"] == "invalid_blocks"
    assert refused["errors"] == ["invalid slack file [json-pointer:/blocks/0/slack_file]"]
    stored.ready_at = control.site.clock.now()
    await client.chat_postMessage(channel=channel, text="memory", blocks=image(file_id))
    assert control.messages("incidents")[-1].blocks[0]["slack_file"] == {"id": file_id}


async def test_it_is_ready_a_moment_after_the_upload(client: AsyncWebClient, control: Control) -> None:
    before = control.site.clock.now()
    file_id = await uploaded(client)
    assert control.site.files[file_id].ready_at >= before + PROCESSING_S
    control.site.files[file_id].ready_at = control.site.clock.now()
    assert (await client.files_info(file=file_id))["file"]["mimetype"] == "image/png"


@pytest.mark.parametrize("name", ["notes.txt", "F0NOBODYS"])
async def test_what_is_no_picture_of_slacks_cannot_be_shown(
    client: AsyncWebClient, control: Control, name: str
) -> None:
    file_id = name
    if name.endswith(".txt"):
        file_id = await uploaded(client, name)
        control.site.files[file_id].ready_at = control.site.clock.now()
    channel = control.team.channel("incidents").id
    assert (await refusal(client.chat_postMessage(channel=channel, text="x", blocks=image(file_id))))["error"] == (
        "invalid_blocks"
    )


async def test_of_a_file_that_is_not_there_nothing_is_told(client: AsyncWebClient) -> None:
    assert (await refusal(client.files_info(file="F0NONE")))["error"] == "file_not_found"
