"""Who may look at which cluster, and where: a pure decision on what the policy file says and who asks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase

from bot.policy.model import ANYTHING, DIRECT, Look, LookRule


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who asks. What is not known of them must not be guessed here."""

    team: str
    user: str
    guest: bool = False
    stranger: bool = False
    """Whether they belong to another company (Slack Connect)."""
    groups: frozenset[str] = frozenset()
    """Ids of the user groups they are in; those that the policy names are enough."""


class Why(Enum):
    """Why somebody may not look."""

    STRANGER = "people of another company may not look from here"
    GUEST = "guests may not look from here"
    PLACE = "this cluster is not for this channel"
    PERSON = "this cluster is for others"
    CLUSTER = "no rule lets anybody look at this cluster"


@dataclass(frozen=True, slots=True)
class Allowed:
    """Yes, and the number of the rule that says so, from 1."""

    rule: int


@dataclass(frozen=True, slots=True)
class Refused:
    """No, and why. `channels` are those in which the same person might look."""

    why: Why
    channels: tuple[str, ...] = ()


Decision = Allowed | Refused


def place_of(channel: str | None) -> str:
    """The channel as rules name it. What only one person sees is `direct`: App Home, direct messages."""
    return DIRECT if channel is None or not channel.startswith(("C", "G")) else channel


def may_look(look: Look, asker: Asker, channel: str | None, cluster: str) -> Decision:
    """Whether this person may look at a cluster of this name from there. The first rule that says yes is enough."""
    outside = shut_out(look, asker, channel)
    if outside:
        return outside
    about = [(number, rule) for number, rule in enumerate(look.rules, 1) if _is_about(rule, cluster)]
    mine = [(number, rule) for number, rule in about if _is_for(rule, asker)]
    place = place_of(channel)
    for number, rule in mine:
        if _is_in(rule.channels, place):
            return Allowed(number)
    if mine:
        return Refused(Why.PLACE, tuple(dict.fromkeys(one for _, rule in mine for one in rule.channels)))
    return Refused(Why.PERSON if about else Why.CLUSTER)


def is_shown_in(look: Look, channel: str, cluster: str) -> bool:
    """Whether anybody at all may look at a cluster from this channel: only then it may be spoken of there."""
    return any(_is_about(rule, cluster) and _is_in(rule.channels, place_of(channel)) for rule in look.rules)


def shut_out(look: Look, asker: Asker, channel: str | None) -> Refused | None:
    """Why this person may look at nothing from there, whatever the rules say."""
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
    return any(one in (ANYTHING, themselves) or one in asker.groups for one in rule.people)


def _is_in(channels: tuple[str, ...], place: str) -> bool:
    return ANYTHING in channels or place in channels
