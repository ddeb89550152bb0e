"""What the shipped manifest asks for is what the bot makes use of, on every way that people have to it."""

from __future__ import annotations

from bot.app import Bot
from sandbox.slack.control import Control
from sandbox.slack.manifest import EVENT_SCOPES
from sandbox.slack.server import SlackServer
from tests.slack_app.conftest import SHIPPED
from tests.slack_app.reading import answered, buttons, seen, text_of

RARELY = {
    "channels:history": "after an uncertain post: does it stand there already?",
    "groups:history": "the same in a private channel",
    "files:read": "somebody shares a text file",
    "files:write": "an answer that is too long for messages",
    "reactions:write": "a message of an incident is being looked into",
    "usergroups:read": "a policy that names a user group",
}
"""Scopes not used in ordinary operation, which have separate tests."""


async def test_every_way_to_the_bot_is_answered_with_the_rights_of_the_manifest(
    bot: Bot, control: Control, slack: SlackServer
) -> None:
    await control.slash("requester", "incidents", "/aks", "check prod-weu")
    await answered(control)
    control.mention("requester", "payments-private", "help")
    await control.until(lambda: any("What I can do" in seen(one) for one in control.messages("payments-private")), 30)
    control.say("requester", control.direct("requester").id, "help")
    await control.until(lambda: any("What I can do" in seen(one) for one in control.direct("requester").messages), 30)
    control.open_home("requester")
    await control.until(lambda: (page := control.home("requester")) and "8 clusters" in text_of(page.blocks), 30)
    said = control.say("requester", "incidents", "QuotaExceeded on prod-weu")
    await control.shortcut("requester", "triage_this", said)
    await control.until(lambda: any("It names" in seen(one) for one in control.ephemerals("requester")), 30)
    await control.slash("requester", "random", "/aks", "check prod-weu")
    await control.until(
        lambda: any("invite_me" in buttons(one) for one in control.ephemerals("requester", "random")), 30
    )
    invited = next(one for one in control.ephemerals("requester", "random") if "invite_me" in buttons(one))
    await control.press("requester", invited, "invite_me")
    await control.until(lambda: any(one.method == "conversations.join" and one.status == 200 for one in slack.log), 30)
    control.create_channel("requester", "somewhere")
    control.rename_channel("somewhere", "elsewhere")
    await control.until(lambda: "channel_rename" in slack.told_events, 30)
    # Whether the check above may be shown to others depends on its channel.
    control.open_home("approver")
    await control.until(lambda: "channels:read" in slack.used_scopes, 30)

    assert [one.method for one in slack.log if one.error == "missing_scope"] == []
    assert slack.told_events == set(SHIPPED.events)
    by_events = {scope for event in SHIPPED.events for scope in EVENT_SCOPES[event]}
    unused = set(SHIPPED.scopes) - slack.used_scopes - by_events - {"commands"}
    assert unused <= set(RARELY)
