"""What a phone's notification, a screen reader, and a workspace that refuses blocks are given: people and links too."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.fixes.may import Called
from bot.slack.api.messages import as_text
from bot.slack.fixes import view as fixes_view
from bot.slack.fixes.people_view import as_text as said_as_text
from bot.slack.fixes.text import Moment, Who
from bot.slack.fixes.view import Shown
from bot.slack.kit import escaping, limits
from bot.slack.kit.message import Message
from bot.slack.kit.rich_text import Element, blocks, entity_of, section, text
from tests.slack.surfaces_fixes import APPROVER, REQUESTER, STATES, proposal

PEOPLE = (f"T0CONTOSO:{APPROVER.user}", "S0APPROVERS")
AT = datetime(2026, 11, 18, 3, 14, tzinfo=UTC)


@pytest.mark.parametrize(
    ("element", "spoken"),
    [
        ({"type": "user", "user_id": "U1"}, "<@U1>"),
        ({"type": "usergroup", "usergroup_id": "S1"}, "<!subteam^S1>"),
        ({"type": "channel", "channel_id": "C1"}, "<#C1>"),
        (
            {"type": "link", "url": "https://x.test/a", "text": "the answer > here"},
            "<https://x.test/a|the answer &gt; here>",
        ),
        ({"type": "link", "url": "https://x.test/a"}, "<https://x.test/a>"),
        ({"type": "date", "timestamp": 5, "format": "{time}", "fallback": "03:14 UTC"}, "<!date^5^{time}|03:14 UTC>"),
    ],
)
def test_what_is_no_text_is_spoken_too(element: Element, spoken: str) -> None:
    (block,) = blocks([section(text("by "), element, text(" now"))])
    assert as_text(Message("", (block,))).text.strip() == f"by {spoken} now"


def test_text_that_looks_like_somebody_calls_nobody() -> None:
    (block,) = blocks([section(text("<@U1> <!channel>"))])
    assert as_text(Message("", (block,))).text.strip() == "&lt;@U1&gt; &lt;!channel&gt;"
    assert entity_of(text("<@U1>")) is None
    assert said_as_text(("for <@U1> ", Who("U2")), (), ("until ", Moment(AT))).startswith(
        "for &lt;@U1&gt; <@U2> · until <!date^"
    )


def test_the_notification_of_a_request_holds_what_it_is_who_is_asked_and_why() -> None:
    said = fixes_view.message(Shown(proposal(), called=Called(PEOPLE))).text
    for word in ("Reconcile node pool apps", "prod-weu", "waits for approval", "the pool cannot scale"):
        assert word in said
    assert f"<@{APPROVER.user}>" in said
    assert f"<@{REQUESTER.user}>" in said
    assert "<!subteam^S0APPROVERS>" in said


def test_the_notification_of_an_end_calls_the_one_who_asked_and_says_why() -> None:
    said = fixes_view.outcome(STATES["failed"].proposal).text
    assert f"<@{REQUESTER.user}>" in said
    assert "Azure began and ended with Failed: no capacity" in said


def test_the_notification_of_broken_glass_names_who_and_why() -> None:
    said = fixes_view.broke_glass(proposal(), APPROVER, "payments are <!channel> down").text
    assert f"<@{APPROVER.user}>" in said
    assert "payments are &lt;!channel&gt; down" in said


@pytest.mark.parametrize("name", STATES)
def test_no_notification_is_too_long(name: str) -> None:
    assert len(fixes_view.message(STATES[name]).text) <= limits.MESSAGE_TEXT


def test_nobody_is_cut_in_half() -> None:
    whole = "for <@U0REQUESTER>, <@U0APPROVER>, <https://x.test/a|here> and more"
    for longest in range(20, len(whole)):
        short = escaping.fits(whole, longest)
        assert short.count("<") == short.count(">")
        assert len(short) <= longest
