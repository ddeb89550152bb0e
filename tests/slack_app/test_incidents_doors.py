"""Alerts over HTTP, channels that appear, invitations, and what is muted."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import suppress
from io import BytesIO
from typing import Any

import aiohttp
import pytest

from bot.address import Address
from bot.app import Bot
from bot.incidents.joining import join
from bot.incidents.model import How, Sighting
from bot.incidents.store import Incidents
from bot.slack.inbound.message_reader import Utterance
from bot.store.connect import Connection
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import SCENARIO
from tests.slack_app.hearing import (
    FULL_QUOTA,
    Reads,
    cards,
    found_over,
    hold,
    reads,
    said_by_bot,
    until_answered,
    until_said,
)
from tests.slack_app.reading import seen
from tests.store.servers import until

__all__ = ["reads"]

SECRET = "a-secret-for-alerts-0123"
FIRED: dict[str, Any] = {
    "schemaId": "azureMonitorCommonAlertSchema",
    "data": {
        "essentials": {
            "alertId": "/subscriptions/0/providers/Microsoft.AlertsManagement/alerts/1",
            "alertRule": "upgrade failed",
            "severity": "Sev1",
            "signalType": "Activity Log",
            "monitorCondition": "Fired",
            "configurationItems": ["prod-weu"],
            "firedDateTime": "2026-11-18T03:00:00Z",
            "description": "prod-weu: ErrCode_InsufficientVCPUQuota, insufficient vcpu quota requested 8, remaining 2",
        },
        "alertContext": {},
    },
}
FIRING: dict[str, Any] = {
    "version": "4",
    "status": "firing",
    "commonLabels": {"cluster": "prod-weu"},
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "UpgradeFailed", "cluster": "prod-weu"},
            "annotations": {"summary": "prod-weu is out of vCPU quota: ErrCode_InsufficientVCPUQuota"},
            "startsAt": "2026-11-18T03:00:00Z",
            "fingerprint": "f1",
        }
    ],
}


def policy(control: Control, channel: str = "incidents") -> str:
    return f"channels:\n  alerts:\n    - channel: {control.team.channel(channel).id}\n"


async def send(bot: Bot, path: str, body: Any, secret: str | None = SECRET, *, basic: bool = False) -> int:
    shown = f"Basic {b64encode(f'azure:{secret}'.encode()).decode()}" if basic else f"Bearer {secret}"
    headers = {"Authorization": shown} if secret else {}
    url = f"http://127.0.0.1:{bot.site.port}/alerts/{path}"
    async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as answer:
        return answer.status


@pytest.mark.parametrize(
    ("path", "body", "basic"),
    [("azure-monitor", FIRED, True), ("azure-monitor", FIRED, False), ("alertmanager", FIRING, False)],
)
async def test_an_alert_is_posted_checked_and_answered_in_its_thread(
    reads: Reads, control: Control, path: str, body: Any, basic: bool
) -> None:
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, path, body, basic=basic) == 202
        confirmed = await until_said(control, "Confirmed:")
        assert await send(bot, path, body, basic=basic) == 202
    (post,) = [one for one in said_by_bot(control) if not one.is_reply]
    assert confirmed.thread_ts == post.ts


async def test_two_sources_of_one_incident_are_one_thread(reads: Reads, control: Control) -> None:
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, "azure-monitor", FIRED) == 202
        await until_said(control, "Confirmed:")
        assert await send(bot, "alertmanager", FIRING) == 202
        await until_said(control, "2 reports")
    assert len([one for one in said_by_bot(control) if not one.is_reply]) == 1


@pytest.mark.parametrize(
    ("secret", "body", "status"),
    [(None, FIRED, 401), ("a-secret-for-alerts-9999", FIRED, 401), (SECRET, ["no alert"], 400), (SECRET, {}, 400)],
)
async def test_who_shows_no_secret_and_what_is_no_alert_is_refused(
    reads: Reads, control: Control, secret: str | None, body: Any, status: int
) -> None:
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, "azure-monitor", body, secret) == status
        assert await send(bot, "azure-monitor", body, secret, basic=True) == status
    assert said_by_bot(control) == []


async def test_without_a_secret_there_is_no_door(reads: Reads, control: Control) -> None:
    async with reads(policy(control)) as bot:
        assert await send(bot, "azure-monitor", FIRED) == 404


async def test_a_channel_of_the_pattern_is_joined_and_told_what_will_happen(reads: Reads, control: Control) -> None:
    async with reads("channels:\n  join: ['inc-*']\n"):
        control.create_channel("requester", "random-talk")
        control.create_channel("requester", "inc-2026-11-18")
        await until_said(control, "I read along here", "inc-2026-11-18")
        control.create_channel("requester", "plain")
        control.rename_channel("plain", "inc-renamed")
        await until_said(control, "I read along here", "inc-renamed")
        control.say("requester", "inc-renamed", FULL_QUOTA)
        await until_said(control, "Confirmed:", "inc-renamed")
    assert len(said_by_bot(control, "inc-2026-11-18")) == 1
    assert control.team.bot.id not in control.team.channel("random-talk").members


async def test_whoever_invites_it_is_told_once_what_it_will_do(reads: Reads, control: Control) -> None:
    async with reads():
        control.invite_app("approver", "leads-private")
        await until_said(control, "I read along here", "leads-private")
        control.say("approver", "leads-private", FULL_QUOTA)
        await until_said(control, "Confirmed:", "leads-private")
    assert sum("I read along" in seen(one) for one in said_by_bot(control, "leads-private")) == 1


async def test_elsewhere_than_the_policy_says_nothing_is_read(reads: Reads, control: Control) -> None:
    async with reads("channels:\n  names: ['inc*']\n"):
        control.say("requester", "platform-on-call", FULL_QUOTA)
        control.say("requester", "incidents", FULL_QUOTA)
        await until_said(control, "Confirmed:")
    assert said_by_bot(control, "platform-on-call") == []


async def test_without_auto_check_the_button_comes_first(reads: Reads, control: Control) -> None:
    async with reads("channels:\n  auto_check: false\n"):
        control.say("requester", "incidents", FULL_QUOTA)
        offer = await until_said(control, "reads like")
        assert cards(control) == []
        await control.press("requester", offer, "incident_check_0")
        await until_said(control, "Confirmed:")


async def test_who_may_not_look_from_there_gets_no_answer_there(reads: Reads, control: Control) -> None:
    channel = control.team.channel("platform-on-call").id
    async with reads(f"look:\n  rules:\n    - {{clusters: ['*'], channels: [{channel}]}}\n"):
        control.say("requester", "incidents", FULL_QUOTA)
        control.say("requester", "platform-on-call", FULL_QUOTA)
        await until_said(control, "Confirmed:", "platform-on-call")
    assert said_by_bot(control) == []


async def test_what_is_muted_is_not_spoken_of_until_it_is_no_more(reads: Reads, control: Control) -> None:
    async with reads():
        for word in (
            "mute nonsense",
            "mute no-such-code prod-weu until 4h because",
            "mute quota-exceeded prod-weu until 2020-01-01 x",
        ):
            await control.slash("requester", "incidents", "/aks", word)
        await control.until(
            lambda: sum("I cannot mute" in seen(one) for one in control.ephemerals("requester")) == 3, 30
        )
        await control.slash("requester", "incidents", "/aks", "mute quota-exceeded prod-weu until 4h a migration")
        await until_said(control, "is muted until")
        control.say("requester", "incidents", FULL_QUOTA)
        control.say("requester", "platform-on-call", "subnet is full on prod-weu, no more IPs: SubnetIsFull")
        await until_said(control, "prod-weu", "platform-on-call")
        assert cards(control) == []
        await control.slash("requester", "incidents", "/aks", "mute")
        await control.until(lambda: any("a migration" in seen(one) for one in control.ephemerals("requester")), 30)
        await control.slash("approver", "incidents", "/aks", "unmute quota-exceeded prod-weu")
        await until_said(control, "not muted any more")


async def test_a_snoozed_incident_is_muted_and_everybody_sees_by_whom(reads: Reads, control: Control) -> None:
    async with reads():
        control.say("requester", "incidents", FULL_QUOTA)
        await until_said(control, "Confirmed:")
        (card,) = cards(control)
        await control.press("approver", card, "incident_snooze")
        said = await until_said(control, "Muted until")
        assert said.thread_ts == card.thread_ts


async def test_an_alert_that_is_over_has_its_incident_looked_at_at_once(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    resolved = {"monitorCondition": "Resolved", "resolvedDateTime": "2026-11-18T03:30:00Z"}
    over = {"data": FIRED["data"] | {"essentials": FIRED["data"]["essentials"] | resolved}}
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, "azure-monitor", FIRED) == 202
        await until_said(control, "Confirmed:")
        await until_answered(control)
        hold(arm, "healthy-fleet")
        asked = len(arm.calls)
        for number in range(20):
            over["data"]["essentials"] |= {"resolvedDateTime": f"2026-11-18T03:30:{number:02}Z"}
            assert await send(bot, "azure-monitor", over) == 202
        closed = await until_said(control, "this incident is closed")
    sweeps = [one for one in arm.calls[asked:] if one.path.lower().endswith("/managedclusters/prod-weu")]
    assert 1 <= len(sweeps) <= 3, "a storm of alerts that end is no storm of checks"
    (post,) = [one for one in said_by_bot(control) if not one.is_reply]
    assert closed.thread_ts == post.ts


async def test_an_alert_whose_card_slack_did_not_take_is_checked_all_the_same(
    reads: Reads, control: Control, slack: SlackServer
) -> None:
    refused = Fault("error", "chat.postMessage", times=1, skip=1, error="fatal_error")
    slack.faults.append(refused)
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, "azure-monitor", FIRED) == 202
        await until_said(control, "Confirmed:")
        await until_answered(control)
    assert refused.times == 0
    (card,) = cards(control)
    assert "reports" not in seen(card)


async def test_an_alert_about_what_is_muted_is_not_posted(reads: Reads, control: Control) -> None:
    other = {"fingerprint": "f2", "annotations": {"summary": "prod-weu: subnet is full, SubnetIsFull, no more IPs"}}
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        await control.slash("requester", "incidents", "/aks", "mute quota-exceeded prod-weu until 4h a migration")
        await until_said(control, "is muted until")
        assert await send(bot, "azure-monitor", FIRED) == 202
        assert await send(bot, "alertmanager", FIRING | {"alerts": [FIRING["alerts"][0] | other]}) == 202
        await until_said(control, "SubnetIsFull")
        await until_answered(control)
    assert not any(
        "ErrCode_InsufficientVCPUQuota" in str(one.blocks) for one in said_by_bot(control) if not one.is_reply
    )


async def test_what_an_alert_says_formats_nothing_calls_nobody_and_holds_no_secret(
    reads: Reads, control: Control
) -> None:
    notes = {
        "summary": "<!channel> *prod-weu* is out of vCPU quota\ud800 <https://evil.example|log in>",
        "description": "ErrCode_InsufficientVCPUQuota ``` <@U0000> AccountKey=" + "Zm9vYmFyYmF6cXV4" * 5 + "Zg==;",
    }
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        body = FIRING | {"alerts": [FIRING["alerts"][0] | {"annotations": notes}]}
        assert await send(bot, "alertmanager", body) == 202
        await until_said(control, "quota")
    (post,) = [one for one in said_by_bot(control) if not one.is_reply]
    (headline, alert) = post.blocks
    for mrkdwn in (post.text, headline["text"]["text"]):
        assert "<" not in mrkdwn
        assert "*prod-weu*" not in mrkdwn
    assert {one["type"] for part in alert["elements"] for one in part["elements"]} == {"text"}
    assert "Zm9vYmFy" not in str(post)


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_that_is_too_large_is_refused_before_it_is_read(
    reads: Reads, control: Control, chunked: bool
) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(160):
            yield b"x" * 65536

    body = parts() if chunked else BytesIO(b"x" * 10 * 1024 * 1024)
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        url = f"http://127.0.0.1:{bot.site.port}/alerts/alertmanager"
        headers = {"Authorization": f"Bearer {SECRET}"}
        async with aiohttp.ClientSession() as session:
            with suppress(aiohttp.ClientError):  # the door may close while the rest is still on its way
                async with session.post(url, data=body, headers=headers) as answer:
                    assert answer.status == 413
        for bomb in (b"[" * 100_000, b"9" * 100_000, b'{"alerts":[' + b"[" * 90_000 + b"]" * 90_000 + b"]}"):
            async with aiohttp.ClientSession() as session, session.post(url, data=bomb, headers=headers) as answer:
                assert answer.status == 400
        assert await send(bot, "alertmanager", FIRING) == 202
        await until_said(control, "Confirmed:")


async def test_an_alert_goes_where_its_cluster_may_be_seen(
    reads: Reads, control: Control, caplog: pytest.LogCaptureFixture
) -> None:
    here, there = (control.team.channel(one).id for one in ("incidents", "platform-on-call"))
    rules = f"look:\n  rules:\n    - {{clusters: ['prod-*'], channels: [{there}]}}\n"
    alerts = f"channels:\n  alerts:\n    - channel: {here}\n"
    async with reads(f"{rules}{alerts}    - channel: {there}\n", AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, "azure-monitor", FIRED) == 202
        await until_said(control, "Confirmed:", "platform-on-call")
    assert said_by_bot(control) == []
    async with reads(f"{rules}{alerts}", AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        other = {"startsAt": "2026-11-18T04:00:00Z", "annotations": {"summary": "SubnetIsFull: prod-eus2, no more IPs"}}
        body = {"alerts": [FIRING["alerts"][0] | other | {"labels": {"cluster": "prod-eus2"}}]}
        assert await send(bot, "alertmanager", body) == 202
        await until(lambda: _logged(caplog, "no channel where prod-eus2 is shown"), 60)
    assert said_by_bot(control) == []


async def _logged(caplog: pytest.LogCaptureFixture, said: str) -> bool:
    """For `until`: what is only logged changes nothing in Slack, so that nothing there wakes who waits for it."""
    return said in caplog.text


async def test_a_report_is_answered_although_slack_does_not_say_at_once_who_made_it(
    reads: Reads, control: Control, slack: SlackServer
) -> None:
    mute = Fault("error", "users.info", times=4, error="internal_error")
    slack.faults.append(mute)
    async with reads():
        report = control.say("requester", "incidents", FULL_QUOTA)
        confirmed = await until_said(control, "Confirmed:")
    assert mute.times == 0
    assert confirmed.thread_ts == report.ts


async def test_an_alert_that_opens_an_incident_again_has_a_link_to_its_thread(
    reads: Reads, control: Control, arm: ArmServer
) -> None:
    async with reads(policy(control), AKSBOT_ALERTS_TOKEN=SECRET) as bot:
        assert await send(bot, "azure-monitor", FIRED) == 202
        answer = await until_answered(control)
        await found_over(control, arm, answer)
        hold(arm, SCENARIO)
        assert await send(bot, "alertmanager", FIRING) == 202
        await until_said(control, "It is reported again")
        first, again = [one for one in said_by_bot(control) if not one.is_reply]
        (link,) = await control.until(
            lambda: [one for one in said_by_bot(control) if one.is_reply and one.thread_ts == again.ts], 60
        )
    assert first.ts.replace(".", "") in str(link.blocks)


async def test_an_incident_in_a_thread_whose_worker_died_before_it_asked_for_the_check_is_checked(
    reads: Reads, control: Control, slack: SlackServer, redis: Connection
) -> None:
    """It is the report's own, half begun, so that what is reported there is no talk about it."""
    team, incidents = control.team.id, Incidents(redis.redis)
    async with reads(AKSBOT_ROLE="web"):
        head = control.say("visitor", "incidents", "did anybody see that?")
        report = control.say("requester", "incidents", FULL_QUOTA, thread_ts=head.ts)
        await slack.until(lambda: slack.outbox.under_way == 0, 60)
    spot, name = Address(channel=report.channel, thread_ts=head.ts), Utterance(team, report.channel, report.ts, "").id
    now_ms = int(time.time() * 1000)
    sighting = Sighting(name, "prod-weu", ("quota-exceeded",), "its words", spot, report.ts, now_ms, user=report.user)
    assert await incidents.owns(team, spot, "prod-weu")
    assert (await incidents.change(team, "prod-weu", lambda book: join(book, sighting))).how is How.NEW
    await incidents.speaks_in(team, spot, "prod-weu")
    async with reads(AKSBOT_ROLE="all"):
        confirmed = await until_said(control, "Confirmed:")
    assert confirmed.thread_ts == head.ts
