"""Who may view which cluster, and where: a pure decision from the policy and the person who asks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase

from bot.policy.model import ANYTHING, DIRECT, Look, LookRule


@dataclass(frozen=True, slots=True)
class Asker:
    """The person who asks. What is not known about them must not be guessed here."""

    team: str
    user: str
    guest: bool = False
    stranger: bool = False
    """Whether they belong to another company (Slack Connect)."""
    groups: frozenset[str] = frozenset()
    """Ids of the user groups they are in; those that the policy names are enough."""


class Why(Enum):
    """Why a person may not view a cluster."""

    STRANGER = "people of another company may not look from here"
    GUEST = "guests may not look from here"
    PLACE = "this cluster is not for this channel"
    PERSON = "this cluster is for others"
    CLUSTER = "no rule lets anybody look at this cluster"
    ACCOUNT = "no rule lets this person ask what this service account may do"


@dataclass(frozen=True, slots=True)
class Allowed:
    """Yes, and the number of the rule that allows it, from 1."""

    rule: int


@dataclass(frozen=True, slots=True)
class Refused:
    """No, and why. `channels`: where the same person may view it."""

    why: Why
    channels: tuple[str, ...] = ()


Decision = Allowed | Refused


def place_of(channel: str | None) -> str:
    """The channel as rules name it. What only one person sees (App Home, direct messages) is `direct`."""
    return DIRECT if channel is None or not channel.startswith(("C", "G")) else channel


def may_look(look: Look, asker: Asker, channel: str | None, cluster: str, account: str = "") -> Decision:
    """Whether this person may view a cluster of this name from there. The first rule that allows it is enough.

    `account`: the service account (`shop/web`) whose rights they ask about.
    """
    outside = refused_everywhere(look, asker, channel)
    if outside:
        return outside
    about = [(number, rule) for number, rule in enumerate(look.rules, 1) if _is_about(rule, cluster)]
    mine = [(number, rule) for number, rule in about if _is_for(rule, asker)]
    place = place_of(channel)
    there = [(number, rule) for number, rule in mine if _is_in(rule.channels, place)]
    for number, rule in there:
        if _may_ask_about(rule, account):
            return Allowed(number)
    if there:
        return Refused(Why.ACCOUNT)
    if mine:
        return Refused(Why.PLACE, tuple(dict.fromkeys(channel for _, rule in mine for channel in rule.channels)))
    return Refused(Why.PERSON if about else Why.CLUSTER)


def reads_outside(look: Look, channel: str, *, shared: bool, guests: bool) -> bool:
    """Whether somebody reads along in this channel who may not look from there.

    `shared`: with another company; `guests`: some are members.
    """
    place = place_of(channel)
    strangers_may, guests_may = _is_in(look.slack_connect, place), _is_in(look.guests, place)
    return (shared and not strangers_may) or (guests and not guests_may)


def is_shown_in(look: Look, channel: str, cluster: str) -> bool:
    """Whether anybody may view a cluster from this channel: only then may it be mentioned there."""
    return any(_is_about(rule, cluster) and _is_in(rule.channels, place_of(channel)) for rule in look.rules)


def refused_everywhere(look: Look, asker: Asker, channel: str | None) -> Refused | None:
    """Why this person may view nothing from there, whatever the rules say."""
    place = place_of(channel)
    if asker.stranger and not _is_in(look.slack_connect, place):
        return Refused(Why.STRANGER, look.slack_connect)
    if asker.guest and not _is_in(look.guests, place):
        return Refused(Why.GUEST, look.guests)
    return None


def _is_about(rule: LookRule, cluster: str) -> bool:
    return any(fnmatchcase(cluster.lower(), glob.lower()) for glob in rule.clusters)


def _is_for(rule: LookRule, asker: Asker) -> bool:
    themselves = f"{asker.team}:{asker.user}"
    return any(person in (ANYTHING, themselves) or person in asker.groups for person in rule.people)


def _may_ask_about(rule: LookRule, account: str) -> bool:
    return not account or any(fnmatchcase(account, glob) for glob in rule.service_accounts)


def _is_in(channels: tuple[str, ...], place: str) -> bool:
    return ANYTHING in channels or place in channels
