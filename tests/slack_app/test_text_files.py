"""Logs that people share: what Slack's preview does not show is recognised, and nothing is believed blindly."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sandbox.slack.cast import on_call_workspace
from sandbox.slack.control import Control
from sandbox.slack.downloads import METHOD
from sandbox.slack.faults import Fault
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import SHIPPED
from tests.slack_app.hearing import FULL_QUOTA, SOON, Reads, cards, reads, said_by_bot, until_said
from tests.slack_app.reading import seen

__all__ = ["reads"]

NOISE = "".join(
    f"2026-11-18T03:00:{number % 60:02d}Z info reconciling pool apps, pass {number}\n" for number in range(400)
)
ERROR = (
    'Code="ErrCode_InsufficientVCPUQuota" Message="Insufficient vcpu quota requested 8, remaining 2 for family DSv5"\n'
)
LOG = (NOISE + ERROR + "done\n").encode()
LOOK = "please have a look, it is prod-weu"


def downloads(slack: SlackServer) -> list[str | None]:
    return [one.error for one in slack.log if one.method == METHOD]


async def nothing_follows(control: Control, slack: SlackServer, *, asked: int) -> None:
    """After so many downloads, what is said later and elsewhere is answered; here nothing was."""
    await control.until(lambda: len(downloads(slack)) >= asked, 60)
    control.say("requester", "platform-on-call", FULL_QUOTA)
    await until_said(control, "Confirmed:", "platform-on-call")
    assert said_by_bot(control) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("upgrade.log", LOG),
        ("upgrade.log", LOG.decode().encode("utf-16")),
        ("answer.json", b'{"code": "DeploymentFailed", "details": [' + ERROR.strip().encode().join([b'"', b'"]}'])),
        ("upgrade.log", LOG * 400),
    ],
    ids=["behind the preview", "as Windows writes it", "an answer of Azure", "ten megabytes"],
)
async def test_the_error_is_found_in_the_file(
    reads: Reads, control: Control, slack: SlackServer, name: str, content: bytes
) -> None:
    async with reads():
        said = control.share("requester", "incidents", name, content, LOOK)
        assert "Quota" not in str(said.files[0].show().get("preview")) or name == "answer.json"
        confirmed = await until_said(control, "Confirmed:")
    assert confirmed.thread_ts == said.ts
    assert "files:read" in slack.used_scopes
    assert len(cards(control)) == 1


async def test_a_file_without_words_is_read_too_and_the_channel_says_which_cluster(
    reads: Reads, control: Control
) -> None:
    async with reads():
        await control.slash("requester", "incidents", "/aks", "default prod-weu")
        await until_said(control, "is now `prod-weu`")
        said = control.share("requester", "incidents", "upgrade.log", LOG)
        confirmed = await until_said(control, "Confirmed:")
    assert confirmed.thread_ts == said.ts


async def test_words_that_say_that_it_is_over_count_for_more_than_the_file(
    reads: Reads, control: Control, slack: SlackServer
) -> None:
    async with reads():
        control.share("requester", "incidents", "upgrade.log", LOG, "resolved: prod-weu, the log is attached")
        await nothing_follows(control, slack, asked=0)
    assert downloads(slack) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("core.log", b"\x7fELF\0\0\0" + LOG),
        ("core.log", bytes(range(128, 256)) * 400 + LOG),
        ("page.log", b"<!DOCTYPE html><html>" + LOG),
        ("empty.log", b""),
        ("picture.png", LOG),
    ],
    ids=["binary", "no letters", "a page", "empty", "a picture"],
)
async def test_what_is_no_text_is_not_read(
    reads: Reads, control: Control, slack: SlackServer, name: str, content: bytes
) -> None:
    async with reads():
        control.share("requester", "incidents", name, content, LOOK)
        await nothing_follows(control, slack, asked=int(name != "picture.png"))


@pytest.mark.parametrize("kind", ["500", "html", "reset", "429"])
async def test_a_file_that_does_not_come_leaves_the_words_as_they_are(
    reads: Reads, control: Control, slack: SlackServer, kind: str
) -> None:
    slack.faults.append(Fault(kind, method=METHOD))  # type: ignore[arg-type]
    async with reads():
        control.share("requester", "incidents", "upgrade.log", LOG, LOOK)
        await nothing_follows(control, slack, asked=1)
        said = control.share("approver", "incidents", "upgrade.log", LOG, FULL_QUOTA)
        pointer = await until_said(control, "is known already")
    assert pointer.thread_ts == said.ts
    # The library asks once more where the connection was gone.
    assert len(downloads(slack)) in (2, 4)


async def test_a_file_that_never_comes_holds_nobody_up_for_long(
    reads: Reads, control: Control, slack: SlackServer
) -> None:
    slack.faults.append(Fault("timeout", method=METHOD))
    async with reads(spans=replace(SOON, files=timedelta(seconds=1))):
        asked = asyncio.get_running_loop().time()
        control.share("requester", "incidents", "upgrade.log", LOG, FULL_QUOTA)
        await until_said(control, "Confirmed:")
        assert asyncio.get_running_loop().time() - asked < 30


async def test_a_file_that_is_gone_is_not_read(reads: Reads, control: Control, slack: SlackServer) -> None:
    async with reads():
        said = control.share("requester", "incidents", "upgrade.log", LOG, LOOK)
        del control.site.files[said.files[0].id]
        await nothing_follows(control, slack, asked=1)
    assert downloads(slack) == ["file_not_found"]


async def test_without_the_right_to_read_files_the_sign_in_page_is_not_taken_for_one(
    reads: Reads, control: Control, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    scopes = tuple(one for one in SHIPPED.scopes if one != "files:read")
    slack.site.manifest = replace(slack.site.manifest, scopes=scopes)
    async with reads():
        control.share("requester", "incidents", "upgrade.log", LOG, LOOK)
        await nothing_follows(control, slack, asked=1)
    assert downloads(slack) == ["sign_in"]
    assert "files:read" in caplog.text


async def test_the_token_goes_to_slack_alone(reads: Reads, control: Control, slack: SlackServer) -> None:
    """An external file has an address of its owner's choice, and an event may hold anything."""
    async with SlackServer(on_call_workspace()) as other:
        elsewhere = f"{other.url.rstrip('/')}/chat.postMessage"
        strange: tuple[dict[str, Any], ...] = (
            {"url_private": elsewhere},
            {"url_private": elsewhere, "mode": "external", "is_external": True},
            {"url_private": "https://files.slack.com.example.com/x"},
            {"url_private": "https://files.slack.com:8443/x"},
            {"url_private": "//"},
            {"url_private": ""},
        )
        async with reads():
            for more in strange:
                control.share("requester", "incidents", "upgrade.log", LOG, LOOK, **more)
            await nothing_follows(control, slack, asked=0)
        assert other.log == []
    assert downloads(slack) == []


async def test_secrets_in_a_file_are_not_repeated(reads: Reads, control: Control) -> None:
    secret = "sk7Q~".join(["nV8", "Zb1cXwLr2mTq9pYd4eHs6gJu0aFk3oE"])
    text = f"AZURE_CLIENT_SECRET={secret}\nclient_secret: {secret}\n".encode() + LOG
    async with reads():
        control.share("requester", "incidents", "upgrade.log", text, LOOK)
        await until_said(control, "Confirmed:")
    assert not any(secret in seen(one) for one in said_by_bot(control))


async def test_triage_this_reads_what_slack_shows_of_a_file(reads: Reads, control: Control) -> None:
    async with reads("channels:\n  names: [nowhere]\n"):
        said = control.share("requester", "incidents", "upgrade.log", ERROR.encode(), "prod-weu, see the log")
        await control.shortcut("requester", "triage_this", said)
        await control.until(lambda: any("quota" in seen(one) for one in control.ephemerals("requester")), 60)
