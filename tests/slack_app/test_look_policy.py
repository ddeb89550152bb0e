"""The look policy, on every way to a cluster; denied by default if Slack does not identify the user."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.app import Bot
from handlers.problem import Exit, Problem
from sandbox.slack.control import Control
from sandbox.slack.server import Fault, SlackServer
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, buttons, heads, is_answer, seen, text_of

Write = Callable[[str], None]


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a policy, and sets it."""

    def write(text: str) -> None:
        file = tmp_path / "policy.yaml"
        file.write_text(text)
        monkeypatch.setenv("AKSBOT_POLICY", str(file))

    return write


def _incidents_only(control: Control) -> str:
    """prod-weu may be looked at in #incidents alone; the rest anywhere."""
    channel = control.team.channel("incidents").id
    rest = "[prod-eus2, staging-*, dev-*, payments-*, edge-*, arc-*]"
    return (
        f"look:\n  ask: the platform team\n  rules:\n"
        f"    - {{clusters: [PROD-weu], channels: [{channel}]}}\n    - clusters: {rest}\n"
    )


async def _told(control: Control, user: str, part: str, channel: str | None = None) -> str:
    await control.until(lambda: any(part in seen(one) for one in control.ephemerals(user, channel)), 30)
    return next(seen(one) for one in control.ephemerals(user, channel) if part in seen(one))


async def test_a_cluster_of_another_channel_is_refused_with_the_reason_and_whom_to_ask(
    start: Start, control: Control, policy: Write
) -> None:
    policy(_incidents_only(control))
    async with start():
        await control.slash("requester", "platform-on-call", "/aks", "check prod-weu")
        said = await _told(control, "requester", "I may not show you `prod-weu` here")
        assert "it may be looked at in other channels" in said
        assert "ask the platform team" in said
        assert control.team.channel("incidents").id in str(control.ephemerals("requester")[0].blocks)
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        assert len(await answered(control)) == 1
    assert heads(control, "platform-on-call") == []


@pytest.mark.parametrize("given", ["Prod-WEU", "/subscriptions/{}/resourceGroups/x/providers/{}/prod-weu"])
async def test_it_is_refused_however_the_cluster_is_named(
    start: Start, control: Control, policy: Write, given: str
) -> None:
    policy(_incidents_only(control))
    typed = given.format("3b1f2c84-6a5d-4e70-9c1b-8f2d4a6e7b90", "Microsoft.ContainerService/managedClusters")
    async with start():
        await control.slash("requester", "platform-on-call", "/aks", f"check {typed}")
        await _told(control, "requester", "I may not show you")
    assert heads(control, "platform-on-call") == []


async def test_lists_menus_and_home_leave_it_out(start: Start, control: Control, policy: Write) -> None:
    policy(_incidents_only(control))
    async with start():
        for word, part in (("clusters", "staging-neu"), ("check", "Which cluster?")):
            await control.slash("requester", "platform-on-call", "/aks", word)
            said = await _told(control, "requester", part)
            assert "prod-weu" not in said
            assert "prod-eus2" in said
        control.open_home("requester")
        await control.until(lambda: "staging-neu" in _home(control), 30)
        assert "prod-weu" not in _home(control)
        await control.slash("requester", "incidents", "/aks", "clusters")
        assert "prod-weu" in await _told(control, "requester", "staging-neu", "incidents")


async def test_a_mention_is_refused_so_that_nobody_else_sees_it(start: Start, control: Control, policy: Write) -> None:
    policy(_incidents_only(control))
    async with start():
        asked = control.mention("requester", "platform-on-call", "check prod-weu")
        await _told(control, "requester", "I may not show you `prod-weu`")
    assert control.messages("platform-on-call") == [asked]


async def test_the_buttons_of_an_answer_are_for_those_who_may_look(
    start: Start, control: Control, policy: Write, slack: SlackServer
) -> None:
    person = f"{control.team.id}:{control.team.person('requester').id}"
    policy(f"look: {{rules: [{{clusters: ['*'], people: ['{person}']}}]}}")
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        (head,) = await answered(control)
        cause = control.thread("incidents", head.ts)[1]
        await control.until(lambda: any("What to do" in seen(one) for one in control.thread("incidents", head.ts)), 30)
        pressed = (
            (head, "check_again"),
            (head, "show_all_checks"),
            (head, "wrong_answer"),
            (cause, "show_steps_0"),
        )
        for number, (message, button) in enumerate(pressed, 1):
            await control.press("visitor", message, button)
            await control.until(lambda n=number: len(control.ephemerals("visitor")) == n, 30)  # type: ignore[misc]
            assert "it is for other people" in seen(control.ephemerals("visitor")[-1])
        assert control.modal("visitor") is None
        await control.press("requester", head, "show_all_checks")
        await control.until(lambda: any("All checks" in seen(one) for one in control.thread("incidents", head.ts)), 30)
    thread = control.thread("incidents", head.ts)
    assert sum("All checks" in seen(one) for one in thread) == 1
    assert sum(map(is_answer, thread)) == 1


async def test_people_of_a_group_may_and_others_may_not(start: Start, control: Control, policy: Write) -> None:
    group = next(one.id for one in control.team.groups if one.handle == "aks-oncall")
    policy(f"look: {{rules: [{{clusters: ['*'], people: [{group}]}}]}}")
    async with start():
        await control.slash("visitor", "incidents", "/aks", "check prod-weu")
        await _told(control, "visitor", "it is for other people")
        await control.slash("approver", "incidents", "/aks", "check prod-weu")
        assert len(await answered(control)) == 1


async def test_an_empty_list_is_nobody(start: Start, control: Control, policy: Write) -> None:
    policy("look: {rules: []}")
    async with start():
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
        await _told(control, "requester", "no rule of the policy")
        await control.slash("requester", "incidents", "/aks", "clusters")
        await _told(control, "requester", "none that you may look at")
    assert heads(control) == []


async def test_guests_may_not_look_unless_their_channel_is_listed(
    start: Start, control: Control, policy: Write
) -> None:
    async with start():
        for word in ("check prod-weu", "clusters", "check"):
            await control.slash("guest", "contractors", "/aks", word)
        await control.until(lambda: _count(control, "guest", "you are a guest") == 3, 30)
        await control.slash("guest", "contractors", "/aks", "help")
        await _told(control, "guest", "What I can do")
    assert heads(control, "contractors") == []
    policy(f"look: {{guests: [{control.team.channel('contractors').id}]}}")
    async with start():
        await control.slash("guest", "contractors", "/aks", "check prod-weu")
        assert len(await answered(control, "contractors")) == 1


async def test_people_of_another_company_may_look_where_the_policy_lists_the_channel(
    start: Start, control: Control, policy: Write
) -> None:
    policy(f"look: {{slack_connect: [{control.team.channel('partner-support').id}]}}")
    async with start():
        asked = control.mention("partner", "partner-support", "check prod-weu")
        await control.until(lambda: any(map(is_answer, control.thread("partner-support", asked.ts))), 30)


async def _command(control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")


async def _list(control: Control) -> None:
    await control.slash("requester", "incidents", "/aks", "clusters")


@pytest.mark.parametrize("ask", [_command, _list], ids=["check", "clusters"])
async def test_when_slack_does_not_say_who_it_is_nobody_is_let_in(
    bot: Bot, control: Control, slack: SlackServer, ask: Callable[[Control], Awaitable[None]]
) -> None:
    slack.faults.append(Fault("error", "users.info", error="user_not_visible", times=1))
    await ask(control)
    said = await _told(control, "requester", "I cannot tell whether you may look")
    assert "user_not_visible" in said
    assert "Try again in a minute" in said
    assert heads(control) == []


async def test_who_somebody_is_is_asked_once(bot: Bot, control: Control, slack: SlackServer) -> None:
    for _ in range(3):
        await control.slash("requester", "incidents", "/aks", "check prod-weu")
    await answered(control, number=3)
    assert sum(one.method == "users.info" for one in slack.log) == 1


async def test_a_policy_that_cannot_be_understood_stops_the_start(start: Start, policy: Write) -> None:
    policy("look:\n  rules:\n    - clusters: prod-weu\n")
    with pytest.raises(Problem, match=r"line 3: `look.rules.1.clusters` cannot be 'prod-weu'") as refused:
        async with start():
            pass
    assert refused.value.code is Exit.USAGE


async def test_the_menu_of_a_stranger_s_choice_is_refused_like_a_name(
    start: Start, control: Control, policy: Write
) -> None:
    """A menu that was made for somebody in one channel is no way around the rules."""
    policy(_incidents_only(control))
    async with start():
        await control.slash("requester", "incidents", "/aks", "check")
        await control.until(lambda: any("pick_cluster" in buttons(one) for one in control.ephemerals("requester")), 30)
        menu = control.ephemerals("requester")[-1]
        for block in menu.blocks:
            for one in block.get("elements", ()):
                for option in one.get("options", ()):
                    option["value"] = "nobodys-cluster" if option["value"] == "prod-weu" else option["value"]
        await control.select("requester", menu, "pick_cluster", "nobodys-cluster")
        await _told(control, "requester", "no rule of the policy")
    assert heads(control) == []


def _home(control: Control) -> str:
    view = control.home("requester")
    return text_of(view.blocks) if view else ""


def _count(control: Control, user: str, part: str) -> int:
    return sum(part in seen(one) for one in control.ephemerals(user))
