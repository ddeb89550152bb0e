"""The policy file as models. Each section is one model and one line in `Policy`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from bot.policy.channels import Channels as Incidents
from bot.policy.digests import DigestRule
from bot.policy.fixes import Fixes
from bot.policy.links import LinkRule
from bot.policy.section import Clusters, Section, listed

ANYTHING = "*"
DIRECT = "direct"
"""In place of a channel: what only one person sees, App Home and direct messages."""

ChannelName = Annotated[str, StringConstraints(pattern=rf"^(\*|{DIRECT}|[CG][A-Z0-9]{{2,}})$")]
PersonName = Annotated[str, StringConstraints(pattern=r"^(\*|T[A-Z0-9]{2,}:[UW][A-Z0-9]{2,}|S[A-Z0-9]{2,})$")]


def _no_is_nowhere(value: Any) -> Any:
    """YAML reads `no` as false."""
    return () if value is False else listed(value)


Channels = Annotated[tuple[ChannelName, ...], BeforeValidator(listed)]
AccountGlob = Annotated[str, StringConstraints(pattern=r"^(\*|[a-z0-9.*?-]+/[a-z0-9.*?-]+)$")]
Accounts = Annotated[tuple[AccountGlob, ...], BeforeValidator(listed)]
People = Annotated[tuple[PersonName, ...], BeforeValidator(listed)]
Nowhere = Annotated[tuple[ChannelName, ...], BeforeValidator(_no_is_nowhere)]


class LookRule(Section):
    """These people may view these clusters in these channels."""

    clusters: Clusters = Field(
        description="a list of cluster names, with * and ? as in a shell: [prod-*, payments-prod]"
    )
    channels: Channels = Field(
        default=(ANYTHING,),
        description=f"a list of channel ids (C0123ABCD), of {DIRECT} (App Home, direct messages), or of *",
    )
    service_accounts: Accounts = Field(
        default=(ANYTHING,),
        description="a list of service accounts whose rights these people may ask about: [shop/*, orders/api], or *",
    )
    people: People = Field(
        default=(ANYTHING,), description="a list of people (T0123ABCD:U0123ABCD), of user groups (S0123ABCD), or of *"
    )


class Look(Section):
    """Who may view clusters. An empty list means nobody."""

    rules: Annotated[tuple[LookRule, ...], BeforeValidator(listed)] = Field(
        default=(LookRule(clusters=(ANYTHING,)),),
        description="a list of rules, each with clusters, channels and people",
    )
    guests: Nowhere = Field(
        default=(), description=f"no, or a list of channel ids (or {DIRECT}) in which guests may look"
    )
    slack_connect: Nowhere = Field(
        default=(), description="no, or a list of channel ids in which people of other companies may look"
    )
    ask: Annotated[str, StringConstraints(min_length=1, max_length=200)] = Field(
        default="whoever looks after aksbot here", description="whom to ask, in at most 200 characters"
    )


class Pictures(Section):
    """Pictures under answers: bars of a limit, memory over time, causes, what happened when."""

    show: bool = Field(default=True, description="true: pictures stand in the thread, after the answer; false: none do")


class Policy(Section):
    """The whole file."""

    look: Look = Field(default=Look(), description="who may look at which cluster: rules, guests, slack_connect, ask")
    fixes: Fixes = Field(
        default=Fixes(), description="who may let which fix run on which cluster: rules, freezes, expires_minutes"
    )
    channels: Incidents = Field(
        default=Incidents(),
        description="where the bot reads along and what it does there: names, join, clusters, alert_apps, auto_check…",
    )
    pictures: Pictures = Field(default=Pictures(), description="whether answers have pictures: show")
    digests: Annotated[tuple[DigestRule, ...], BeforeValidator(listed)] = Field(
        default=(), description="a list of digests, each with channel, at, time_zone and clusters"
    )
    links: Annotated[tuple[LinkRule, ...], BeforeValidator(listed)] = Field(
        default=(), description="a list of links that stand under findings, each with title, url and clusters"
    )
