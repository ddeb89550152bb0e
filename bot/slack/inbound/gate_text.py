"""What is said to somebody who may not look."""

from __future__ import annotations

from bot.policy.look import Why
from bot.slack.kit.escaping import code, plain

WHY = {
    Why.STRANGER: "I answer people of this workspace only",
    Why.GUEST: "you are a guest in this workspace, and guests may not look at clusters here",
    Why.PLACE: "it may be looked at in other channels, and not here",
    Why.PERSON: "it is for other people",
    Why.CLUSTER: "no rule of the policy lets anybody look at it",
    Why.ACCOUNT: "the policy does not let you ask what this service account may do",
}
NOTHING_FOR_YOU = "There are clusters, but none that you may look at from here."
ELSEWHERE = "Where you may ask about it: "
DIRECTLY = "a direct message to me"


def refused(why: Why, cluster: str | None) -> str:
    return f"I may not show you {_what(cluster)} here: {WHY[why]}."


def whom_to_ask(ask: str) -> str:
    return f"If that is wrong, ask {plain(ask, 200)}. Nobody else sees this."


def cannot_tell(why: str, cluster: str | None) -> str:
    return (
        f"I cannot tell whether you may look at {_what(cluster)}: Slack does not say who you are ({plain(why, 120)})."
    )


def try_again(ask: str) -> str:
    return f"Try again in a minute; if it stays so, ask {plain(ask, 200)}."


def too_late(seconds: float) -> str:
    return f"no answer within {seconds:g} s"


def _what(cluster: str | None) -> str:
    return code(cluster) if cluster else "clusters"
