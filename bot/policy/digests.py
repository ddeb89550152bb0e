"""The `digests` section of the policy: where a digest of the fleet is posted each day, and when."""

from __future__ import annotations

from datetime import UTC, datetime, time, tzinfo
from fnmatch import fnmatchcase
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field, StringConstraints

from bot.policy.channels import ChannelId
from bot.policy.section import Clusters, Section


def zone(name: str) -> tzinfo:
    """UTC needs no time zone database, which a small image may lack."""
    return UTC if name == "UTC" else ZoneInfo(name)


def _known_zone(name: str) -> str:
    try:
        zone(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as unknown:
        raise ValueError("no such time zone") from unknown
    return name


Zone = Annotated[str, AfterValidator(_known_zone)]
ClockTime = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]


class DigestRule(Section):
    """A digest of these clusters goes to this channel each day at this time."""

    channel: ChannelId = Field(description="the id of a channel in which the bot is: C0123ABCD")
    at: ClockTime = Field(default="08:00", description='a time of day in quotes: "08:00"')
    time_zone: Zone = Field(default="UTC", description="a name of the time zone database: Europe/Amsterdam")
    clusters: Clusters = Field(default=("*",), description="a list of cluster names, with * and ? as in a shell")

    def is_about(self, cluster: str) -> bool:
        return any(fnmatchcase(cluster.lower(), glob.lower()) for glob in self.clusters)

    def due(self, now: datetime) -> datetime:
        """When it is due on the day that it is there now."""
        there = zone(self.time_zone)
        return datetime.combine(now.astimezone(there).date(), time.fromisoformat(self.at), there)
