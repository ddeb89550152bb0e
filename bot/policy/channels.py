"""The `channels` section of the policy: where the bot reads along, which apps it trusts, what it may do by itself."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from bot.policy.section import Clusters, ClustersOrNone, PeopleOrGroups, Section, listed

NameGlob = Annotated[str, StringConstraints(pattern=r"^[^\sA-Z#]{1,80}$")]
NameGlobs = Annotated[tuple[NameGlob, ...], BeforeValidator(listed)]
AppId = Annotated[str, StringConstraints(pattern=r"^[AB][A-Z0-9]{2,}$")]
AppIds = Annotated[tuple[AppId, ...], BeforeValidator(listed)]
ChannelId = Annotated[str, StringConstraints(pattern=r"^[CG][A-Z0-9]{2,}$")]


class AlertRule(Section):
    """Alerts about these clusters that arrive over HTTP are posted to these channels."""

    channel: ChannelId = Field(description="the id of a channel in which the bot is: C0123ABCD")
    clusters: Clusters = Field(default=("*",), description="a list of cluster names, with * and ? as in a shell")


class Channels(Section):
    """The section. Without it, the bot reads along wherever it was invited, and joins nothing by itself."""

    names: NameGlobs = Field(
        default=("*",),
        description="a list of channel names (lower case, with * and ?) where messages are read: [inc-*, '*-alerts']",
    )
    join: NameGlobs = Field(
        default=(), description="a list of channel names (with * and ?) that the bot joins when they appear: [inc-*]"
    )
    clusters: ClustersOrNone = Field(
        default=("*",),
        description="a list of cluster names (with * and ?) about which the bot speaks by itself; empty: about none",
    )
    alert_apps: AppIds = Field(
        default=(), description="a list of apps whose posts are read: ids A0123ABCD (or of bots, B0123ABCD)"
    )
    ask_about_apps: bool = Field(
        default=True, description="true: about an unknown app people are asked, once; false: it is not read"
    )
    auto_check: bool = Field(default=True, description="true: check by itself; false: offer a button instead")
    alerts: Annotated[tuple[AlertRule, ...], BeforeValidator(listed)] = Field(
        default=(), description="a list of rules, each with a channel and clusters; the first that fits counts"
    )
    notify: PeopleOrGroups = Field(
        default=(),
        description="who is called when a check proves what an alert said, or cannot tell: people as "
        "T0123ABCD:U0123ABCD, user groups as S0123ABCD; empty: nobody",
    )
    longest_mute_hours: Annotated[int, Field(ge=0, le=24 * 90)] = Field(
        default=24 * 14, description="for how long anybody may mute something: 0 (nobody may) to 2160 hours"
    )

    def reads(self, name: str) -> bool:
        return _fits(name, self.names)

    @property
    def reads_everything(self) -> bool:
        """Whether every channel is read, so that channel names need not be looked up."""
        return "*" in self.names

    def joins(self, name: str) -> bool:
        return _fits(name, self.join)

    def speaks_of(self, cluster: str) -> bool:
        return _fits(cluster, self.clusters)

    def channels_for(self, cluster: str | None) -> tuple[str, ...]:
        """The channels for an alert about this cluster, first match first; for an alert without a cluster, those for
        any.
        """
        fit = (alert for alert in self.alerts if (_fits(cluster, alert.clusters) if cluster else "*" in alert.clusters))
        return tuple(rule.channel for rule in fit)


def _fits(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name.lower(), glob.lower()) for glob in globs)
