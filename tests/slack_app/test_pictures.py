"""A picture under an answer: shown as an image, else as a file, else not at all; the answer is posted in any case."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.address import Address
from bot.metrics import Metrics
from bot.render.pictures.picture import Chart, Curve, Picture
from bot.render.pictures.process import Drawing
from bot.slack.api.calls import Calls
from bot.slack.api.messages import SlackMessages
from bot.slack.api.poster import Poster, Reply
from bot.store.connect import Connection
from bot.store.state import State
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.server import Fault, SlackServer
from tests.checking import azure
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered

WITHIN_S = 60.0
CHART = Chart("memory", 1_763_424_000.0, (0, 300, 600), (Curve("node-0", (40.0, 70.0, 103.0)),), 100.0, "all")
PICTURE = Picture("memory-one.png", "node-0: from 40 % to 103 %", CHART)


@pytest.fixture
async def arm() -> AsyncIterator[ArmServer]:
    async with azure(Scenario.load("memory-saturation").world) as server:
        yield server


def images(control: Control, head: Message) -> list[dict[str, Any]]:
    blocks = (block for one in control.thread("incidents", head.ts) for block in one.blocks)
    return [one for one in blocks if one["type"] == "image"]


@asynccontextmanager
async def speaking(
    slack: SlackServer, redis: Connection, drawing: Drawing | None = None, *, draws: bool = True
) -> AsyncIterator[Poster]:
    async with aiohttp.ClientSession() as session:
        client = AsyncWebClient(slack.bot_token, base_url=slack.url, session=session, retry_handlers=[])
        yield Poster(SlackMessages(Calls(client, session, Metrics())), State(redis.redis), drawing, draws=draws)


async def shown(
    control: Control, message_poster: Poster, times: int = 1, pictures: Sequence[Picture] = (PICTURE,)
) -> Message:
    """The head under which the picture was to be shown."""
    head = control.say("requester", "incidents", "who uses up the memory?")
    channel = control.team.channel("incidents").id
    where = Reply("job-1", Address("T1", channel, "U1"), datetime.now(UTC))
    for _ in range(times):
        await message_poster.pictures(where, Address(channel=channel, message_ts=head.ts), pictures)
    return head


async def test_memory_by_node_is_shown_under_the_answer_with_words(start: Start, control: Control) -> None:
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-eus2")
        (head,) = await answered(control)
        [image] = await control.until(lambda: images(control, head), WITHIN_S)
    assert image["alt_text"].startswith("prod-eus2: memory by node, % of what its pods may have")
    stored = control.site.files[image["slack_file"]["id"]]
    assert (stored.content or b"").startswith(b"\x89PNG")
    thread = control.thread("incidents", head.ts)
    assert thread[-1].blocks == [thread[-1].blocks[0]], "the picture stands alone, after the answer"
    assert thread[-1].blocks[0]["type"] == "image"


async def test_a_picture_is_shown_once(slack: SlackServer, control: Control, redis: Connection) -> None:
    async with speaking(slack, redis) as message_poster:
        head = await shown(control, message_poster, times=2)
    assert len(images(control, head)) == 1
    assert len(control.site.files) == 1


async def test_several_pictures_stand_below_each_other_each_once(
    slack: SlackServer, control: Control, redis: Connection
) -> None:
    second = replace(PICTURE, name="another.png", alt="the second")
    async with speaking(slack, redis) as message_poster:
        head = await shown(control, message_poster, times=2, pictures=(PICTURE, second))
    assert [one["alt_text"] for one in images(control, head)] == [PICTURE.alt, "the second"]


async def test_where_the_policy_wants_no_pictures_none_is_drawn_or_uploaded(
    slack: SlackServer, control: Control, redis: Connection
) -> None:
    async with speaking(slack, redis, draws=False) as message_poster:
        head = await shown(control, message_poster)
    assert len(control.thread("incidents", head.ts)) == 1
    assert control.site.files == {}


@pytest.mark.parametrize(
    "fault",
    [
        Fault("error", "files.info", error="missing_scope"),
        Fault("error", "chat.postMessage", error="invalid_blocks", messages=("invalid slack file",)),
    ],
    ids=["nobody says whether it is ready", "the image is refused"],
)
async def test_where_there_can_be_no_image_it_is_a_file_in_the_thread_once(
    slack: SlackServer, control: Control, redis: Connection, fault: Fault
) -> None:
    slack.faults.append(fault)
    async with speaking(slack, redis) as message_poster:
        head = await shown(control, message_poster, times=2)
    assert [one.name for one in control.files("incidents", head.ts)] == ["memory-one.png"]
    assert images(control, head) == []


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "upload", "files.completeUploadExternal"])
async def test_a_refused_upload_costs_a_picture_alone(
    slack: SlackServer, control: Control, redis: Connection, method: str
) -> None:
    slack.faults.append(Fault("500", method))
    async with speaking(slack, redis) as message_poster:
        head = await shown(control, message_poster)
    assert len(control.thread("incidents", head.ts)) == 1


async def test_a_picture_that_cannot_be_drawn_is_left_out(
    slack: SlackServer, control: Control, redis: Connection
) -> None:
    async with speaking(slack, redis, Drawing((sys.executable, "-c", "raise SystemExit(1)"))) as message_poster:
        head = await shown(control, message_poster)
    assert len(control.thread("incidents", head.ts)) == 1
    assert control.site.files == {}
