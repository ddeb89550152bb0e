"""Where a click was made: its answers go there."""

from __future__ import annotations

from typing import Any

import pytest

from bot.slack.inbound import payloads

HEAD, REPLY = "1700000000.000001", "1700000000.000002"
IN_THREAD = {"thread_ts": HEAD}


@pytest.mark.parametrize(
    ("container", "message", "thread"),
    [
        (IN_THREAD, IN_THREAD, HEAD),
        (IN_THREAD, {}, HEAD),
        ({}, IN_THREAD, HEAD),
        ({}, {}, REPLY),
        ({"is_ephemeral": True, **IN_THREAD}, IN_THREAD, ""),
    ],
)
def test_a_click_is_answered_in_the_thread_of_its_message(
    container: dict[str, Any], message: dict[str, Any], thread: str
) -> None:
    clicked = {
        "team": {"id": "T1"},
        "user": {"id": "U1"},
        "channel": {"id": "C1"},
        "container": {"type": "message", "message_ts": REPLY, "channel_id": "C1", **container},
        "message": {"ts": REPLY, **message},
    }
    assert payloads.click_place(clicked).thread_ts == thread
