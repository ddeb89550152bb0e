"""What changed, what was before, and the whole fleet: each command once through the whole bot."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app import Bot
from bot.checks.store.verdicts import PastVerdict, Verdicts
from bot.store.connect import Connection
from handlers.model import State
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from sandbox.slack.message import Message
from tests.checking import cluster_id
from tests.slack_app.conftest import Start
from tests.slack_app.reading import heads, is_answer, seen

SHARED = "partner-support"
WITHIN_S = 90.0


async def head_with(control: Control, part: str, channel: str = "incidents") -> Message:
    found = await control.until(lambda: [one for one in heads(control, channel) if part in seen(one)], WITHIN_S)
    return found[0]


def images(control: Control, head: Message) -> list[str]:
    blocks = (block for one in control.thread("incidents", head.ts) for block in one.blocks)
    return [block["alt_text"] for block in blocks if block["type"] == "image"]


async def whispered(control: Control, part: str, user: str = "requester") -> str:
    await control.until(lambda: any(part in seen(one) for one in control.ephemerals(user)), WITHIN_S)
    return next(seen(one) for one in control.ephemerals(user) if part in seen(one))


async def kept(redis: Connection, arm: ArmServer, cluster: str) -> None:
    """Until the verdict is kept: that follows the answer."""
    verdicts = Verdicts(redis.redis)
    async with asyncio.timeout(WITHIN_S):
        while True:
            if await verdicts.of(str(cluster_id(arm.world, cluster))):
                return
            await asyncio.sleep(0.05)


async def test_what_changed_is_told_newest_first_with_a_picture_and_then_the_history_and_the_fleet(
    redis: Connection, bot: Bot, control: Control, arm: ArmServer
) -> None:
    await control.slash("requester", "incidents", "/aks", "changes prod-weu 3d")
    head = await head_with(control, "changes in the last 3 d")
    said = seen(head)
    assert "by AKS" in said
    assert "From the activity log of rg-prod-weu and MC_rg-prod-weu" in said
    [alt] = await control.until(lambda: images(control, head), WITHIN_S)
    assert alt.startswith("prod-weu: what was changed")

    await control.slash("requester", "incidents", "/aks", "history prod-weu")
    assert "nothing is known of it yet" in seen(await head_with(control, "nothing is known"))
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    await control.until(lambda: any(is_answer(one) for one in heads(control)), WITHIN_S)
    await kept(redis, arm, "prod-weu")
    await control.slash("requester", "incidents", "/aks", "history prod-weu")
    told = seen(await head_with(control, "1 verdict"))
    assert "unhealthy: A core quota is used up" in told

    await control.slash("requester", "incidents", "/aks", "clusters")
    listed = await whispered(control, "by last verdict")
    assert listed.index("prod-weu") < listed.index("prod-eus2"), "what is unhealthy comes first"
    assert "7 never checked" in listed


async def test_all_clusters_are_checked_in_one_message_and_who_asked_is_called(bot: Bot, control: Control) -> None:
    asked, person = control.mention("requester", "incidents", "check all"), control.team.person("requester").id
    told = "All 8 clusters are checked"

    def calls() -> list[Message]:
        thread = control.thread("incidents", asked.ts)
        return [one for one in thread if told in one.text and person in str(one.blocks)]

    await control.until(calls, WITHIN_S)
    [alt] = await control.until(lambda: images(control, asked), WITHIN_S)
    assert alt.startswith("8 clusters: 1 unhealthy")
    (head,) = [one for one in control.thread("incidents", asked.ts) if "🔴" in seen(one)]
    assert "A core quota is used up" in seen(head)
    assert "⏳" not in seen(head)
    again = control.mention("requester", "incidents", "clusters")
    listed = await control.until(
        lambda: [one for one in control.thread("incidents", again.ts) if "by last verdict" in seen(one)], WITHIN_S
    )
    assert "never checked" not in seen(listed[0])


async def test_only_clusters_that_the_asker_may_see_there_are_checked_and_told(
    start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("look:\n  ask: the platform team\n  rules:\n    - clusters: [staging-*]\n")
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    async with start():
        for word in ("changes prod-weu", "history prod-weu"):
            await control.slash("requester", "incidents", "/aks", word)
        await control.until(
            lambda: sum("I may not show you `prod-weu`" in seen(one) for one in control.ephemerals("requester")) == 2,
            WITHIN_S,
        )
        await control.slash("requester", "incidents", "/aks", "check all")
        head = await head_with(control, "The one cluster is checked")
        assert "staging-neu" in seen(head)
        assert "prod-weu" not in seen(head)


async def test_the_digest_of_the_morning_is_posted_once_and_says_what_is_new_and_what_was_mended(
    start: Start, redis: Connection, control: Control, arm: ArmServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel, file = control.team.channel("incidents").id, tmp_path / "policy.yaml"
    # A place where it is midday, so that a minute ago was the same day there.
    now = datetime.now(UTC)
    ahead = 12 - now.hour
    at, zone = f"{now + timedelta(hours=ahead, minutes=-1):%H:%M}", f"Etc/GMT{-ahead:+d}"
    rule = f'channel: {channel}, at: "{at}", time_zone: {zone}, clusters: [prod-weu, staging-neu]'
    file.write_text(f"digests:\n  - {{{rule}}}\n")
    monkeypatch.setenv("AKSBOT_POLICY", str(file))
    then = datetime.now(UTC) - timedelta(hours=30)
    for name, state, roots in (("prod-weu", State.CLEAR, ()), ("staging-neu", State.FOUND, (("subnet-full", "x"),))):
        cluster = str(cluster_id(arm.world, name))
        await Verdicts(redis.redis).add(PastVerdict(name, cluster, then, state, "error" if roots else "", roots))
    async with start():
        said = seen(await head_with(control, "Digest:"))
    assert "2 clusters in the last 24 h" in said
    assert "prod-weu: A core quota is used up" in said
    # Not mended before it could be looked at: on a busy machine a check may run out of time.
    heading = "Mended" if "Mended" in said else "Not looked at"
    assert "staging-neu: " in said.split(heading)[1]
    async with start():
        await control.slash("requester", "incidents", "/aks", "digest")
        await control.until(lambda: sum("Digest:" in seen(one) for one in heads(control)) == 2, WITHIN_S)
        asked = seen(heads(control)[-1])
    assert "8 clusters" in asked, "on request it is about all that the asker may see"


async def test_where_a_partner_reads_along_only_who_asked_is_answered(bot: Bot, control: Control) -> None:
    for word in ("changes prod-weu 3d", "history prod-weu", "check all"):
        control.mention("requester", SHARED, word)
    parts = ("in the last 3 d", "nothing is known of it yet", "All 8 clusters are checked")

    def told() -> bool:
        mine = [seen(one) for one in control.ephemerals("requester")]
        return all(any(part in said for said in mine) for part in parts)

    await control.until(told, WITHIN_S)
    assert control.ephemerals("partner") == []
    assert [one for one in control.messages(SHARED) if one.user == control.team.bot.id] == []
