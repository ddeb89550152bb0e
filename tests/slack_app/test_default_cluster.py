"""A channel's default cluster: set, shown, used, taken away, and who changed it said to all."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.app import Bot
from sandbox.arm.server import ArmServer
from sandbox.slack.control import Control
from tests.checking import cluster_id
from tests.slack_app.conftest import Start
from tests.slack_app.reading import buttons, heads, is_answer, seen


async def _set(control: Control, cluster: str, part: str, channel: str = "incidents") -> None:
    await control.slash("requester", channel, "/aks", f"default {cluster}")
    await control.until(lambda: any(part in seen(one) for one in heads(control, channel)), 30)
    await _until_kept(
        control, "has no default" if cluster == "none" else "The default cluster of this channel is", channel
    )


async def _until_kept(control: Control, part: str, channel: str) -> None:
    """It is said a moment before it is kept."""
    for _ in range(100):
        told = await _asked_for(control, channel)
        if part in told and "is now" not in told:
            return
    raise AssertionError(f"nothing says {part!r}")


async def _asked_for(control: Control, channel: str) -> str:
    """What `/aks default` says now."""
    before = len(_about_default(control, channel))
    await control.slash("requester", channel, "/aks", "default")
    await control.until(lambda: len(_about_default(control, channel)) > before, 30)
    return _about_default(control, channel)[-1]


def _about_default(control: Control, channel: str) -> list[str]:
    said = [seen(one) for one in control.ephemerals("requester", channel)]
    return [one for one in said if "default cluster" in one]


async def _told(control: Control, part: str, channel: str = "incidents") -> None:
    await control.until(lambda: any(part in seen(one) for one in control.ephemerals("requester", channel)), 30)


async def test_the_channel_sees_who_set_it(bot: Bot, control: Control) -> None:
    await _set(control, "PROD-weu", "is now `prod-weu`")
    (said,) = heads(control)
    assert control.team.person("requester").id in str(said.blocks)
    await control.slash("requester", "incidents", "/aks", "default")
    await _told(control, "The default cluster of this channel is `prod-weu`")


async def test_a_check_without_a_name_takes_it_says_so_and_offers_the_others(bot: Bot, control: Control) -> None:
    await _set(control, "prod-weu", "is now")
    await control.slash("visitor", "incidents", "/aks", "check")
    await control.until(lambda: any("pick_cluster" in buttons(one) for one in control.ephemerals("visitor")), 30)
    said = [seen(one) for one in control.ephemerals("visitor")]
    assert any("Checking `prod-weu`, the default cluster of this channel" in one for one in said)
    assert any("Another one?" in one for one in said)
    await control.until(lambda: any(is_answer(one) and "prod-weu" in one.text for one in heads(control)), 30)


async def test_a_mention_without_a_name_takes_it_in_the_thread(bot: Bot, control: Control) -> None:
    await _set(control, "prod-weu", "is now")
    asked = control.mention("requester", "incidents", "check")
    await control.until(lambda: any(map(is_answer, control.thread("incidents", asked.ts))), 30)
    await control.until(lambda: any("Another one?" in seen(one) for one in control.thread("incidents", asked.ts)), 30)


async def test_who_may_not_look_at_it_is_told_only_that(
    start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not that it is being checked, nor a menu: that would be another answer, and an untrue one."""
    person = f"{control.team.id}:{control.team.person('requester').id}"
    policy = tmp_path / "policy.yaml"
    policy.write_text(f"look: {{rules: [{{clusters: [prod-weu], people: ['{person}']}}, {{clusters: [staging-neu]}}]}}")
    monkeypatch.setenv("AKSBOT_POLICY", str(policy))
    async with start():
        await _set(control, "prod-weu", "is now")
        await control.slash("visitor", "incidents", "/aks", "check")
        await control.until(lambda: any("other people" in seen(one) for one in control.ephemerals("visitor")), 30)
        await control.slash("visitor", "incidents", "/aks", "clusters")
        await control.until(lambda: any("staging-neu" in seen(one) for one in control.ephemerals("visitor")), 30)
    assert not any("being checked" in seen(one) for one in control.ephemerals("visitor"))
    assert len(heads(control)) == 1


async def test_another_channel_has_none(bot: Bot, control: Control) -> None:
    await _set(control, "prod-weu", "is now")
    await control.slash("requester", "platform-on-call", "/aks", "default")
    await _told(control, "has no default cluster", "platform-on-call")


async def test_it_is_taken_away(bot: Bot, control: Control) -> None:
    await _set(control, "prod-weu", "is now")
    await _set(control, "none", "no default cluster any more (it was `prod-weu`)")
    await control.slash("requester", "incidents", "/aks", "check")
    await _told(control, "Which cluster?")
    assert len(heads(control)) == 2


async def test_a_name_that_is_no_cluster_is_refused_and_not_kept(bot: Bot, control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "default prod-wue")
    await _told(control, "perhaps you mean prod-weu")
    await control.slash("requester", "incidents", "/aks", "default")
    await _told(control, "has no default cluster")
    assert heads(control) == []


async def test_an_id_is_shown_by_its_name_and_checked(bot: Bot, arm: ArmServer, control: Control) -> None:
    await _set(control, str(cluster_id(arm.world, "staging-neu")), "is now `staging-neu`")
    await control.slash("requester", "incidents", "/aks", "check")
    await _told(control, "Checking `staging-neu`, the default cluster of this channel")
    await control.until(lambda: any(is_answer(one) and "staging-neu" in one.text for one in heads(control)), 30)


async def test_where_the_bot_is_no_member_only_the_one_who_set_it_is_told(bot: Bot, control: Control) -> None:
    await control.slash("requester", "random", "/aks", "default prod-weu")
    await _told(control, "is now `prod-weu`", "random")
    assert control.messages("random") == []
    await _until_kept(control, "The default cluster of this channel is", "random")
    await control.slash("requester", "random", "/aks", "check")
    await control.until(lambda: any(is_answer(one) for one in control.ephemerals("requester", "random")), 30)


async def test_a_guest_cannot_set_it(bot: Bot, control: Control) -> None:
    await control.slash("guest", "contractors", "/aks", "default prod-weu")
    await control.until(lambda: any("you are a guest" in seen(one) for one in control.ephemerals("guest")), 30)
    assert heads(control) == []
