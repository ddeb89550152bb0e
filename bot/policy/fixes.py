"""The `fixes` section of the policy: who may approve a fix, where and when. What no rule allows is forbidden."""

from __future__ import annotations

from datetime import date, datetime, time
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from bot.policy.section import Clusters, PeopleOrGroups, Section, explained, listed, not_empty

RemedyGlob = Annotated[str, StringConstraints(pattern=r"^[a-z*?-]{1,60}$")]
KNOWN_REMEDIES, NO_SUCH_REMEDY = "remedies", "no_such_remedy"


def _means_a_remedy(glob: str, info: ValidationInfo) -> str:
    """A misspelt name would silently fall through to a laxer rule. The caller passes the known names."""
    known = (info.context or {}).get(KNOWN_REMEDIES)
    if known is not None and not any(fnmatchcase(remedy, glob) for remedy in known):
        raise PydanticCustomError(NO_SUCH_REMEDY, "there is no such remedy", {"known": ", ".join(sorted(known))})
    return glob


Remedies = Annotated[
    tuple[Annotated[RemedyGlob, AfterValidator(_means_a_remedy)], ...],
    BeforeValidator(listed),
    AfterValidator(not_empty),
]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,40}$")]
Names = Annotated[tuple[Name, ...], BeforeValidator(listed)]


class HighestRisk(StrEnum):
    """The highest risk that a rule allows."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Day(StrEnum):
    """A day of the week."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


END_OF_DAY = time.max
"""The day's last moment is in it."""
_DAY_MINUTES = 24 * 60


def _clock(value: Any) -> Any:
    """YAML 1.1 reads 18:30 as a number of minutes; quoted it is text."""
    if isinstance(value, str):
        hour, _, minute = value.partition(":")
        if hour.isdecimal() and minute.isdecimal() and int(hour) < 24 and int(minute) < 60:
            return time(int(hour), int(minute))
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _DAY_MINUTES:
        return time(value // 60, value % 60)
    return value


def _clock_of_an_end(value: Any) -> Any:
    """23:59 means the end of the day: nobody leaves the last minute of a freeze open on purpose."""
    if value in ("24:00", "23:59", _DAY_MINUTES, _DAY_MINUTES - 1):
        return END_OF_DAY
    return _clock(value)


def _date(value: Any) -> Any:
    return value.date() if isinstance(value, datetime) else value


def _zone(value: Any) -> Any:
    if isinstance(value, str):
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError) as unknown:
            raise ValueError(f"{value!r} is no time zone") from unknown
    return value


def _risk(value: Any) -> Any:
    return HighestRisk(value) if isinstance(value, str) and value in set(HighestRisk) else value


def _days(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(Day(item) if isinstance(item, str) and item in set(Day) else item for item in value)
    return value


Clock = Annotated[time, BeforeValidator(_clock)]
ClockOfAnEnd = Annotated[time, BeforeValidator(_clock_of_an_end)]
Date = Annotated[date, BeforeValidator(_date)]


class Freeze(Section):
    """A time in which no fix may run: days of the week, days of the year, or both."""

    name: Name = Field(description="a short name: [a-z0-9-]")
    days: Annotated[tuple[Day, ...], BeforeValidator(_days), AfterValidator(not_empty)] = Field(
        default=tuple(Day), description="a list of mon, tue, wed, thu, fri, sat, sun"
    )
    since: Clock = Field(default=time.min, description='a time of day in quotes: "08:00"')
    until: ClockOfAnEnd = Field(
        default=END_OF_DAY,
        description='a time of day in quotes: "18:00" (free again from then on), or "24:00" (to the end of the day)',
    )
    first: Date | None = Field(default=None, description="the first day: 2026-12-18")
    last: Date | None = Field(default=None, description="the last day: 2027-01-03")
    timezone: Annotated[str, BeforeValidator(_zone)] = Field(
        default="UTC", description="a time zone such as Europe/Berlin"
    )

    @model_validator(mode="after")
    def _has_an_order(self) -> Self:
        if self.first and self.last and self.first > self.last:
            raise explained("ends before it begins: first comes after last", "swap the two days")
        if self.since >= self.until:
            do = "for a night, name two freezes: one until 24:00, and one since 00:00"
            raise explained("ends before it begins: since must come before until", do)
        return self

    def holds(self, now: datetime) -> bool:
        """Whether the freeze is on at this moment."""
        there = now.astimezone(ZoneInfo(self.timezone))
        if (self.first and there.date() < self.first) or (self.last and there.date() > self.last):
            return False
        before_its_end = self.until == END_OF_DAY or there.time() < self.until
        return list(Day)[there.weekday()] in self.days and self.since <= there.time() and before_its_end

    @property
    def hours(self) -> str:
        """`18:00 to 24:00`."""
        return f"{self.since:%H:%M} to {'24:00' if self.until == END_OF_DAY else f'{self.until:%H:%M}'}"


def is_group(approver: str) -> bool:
    return approver.startswith("S")


def _groups(approvers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({approver for approver in approvers if is_group(approver)}))


def _can_be_given(approvals: int, info: ValidationInfo) -> int:
    """Whether enough approvers are listed. Only Slack knows how many a group has. Duplicates count once."""
    people = set(info.data.get("approvers", ()))
    if people and approvals > len(people) and not any(is_group(person) for person in people):
        those = "is only 1 approver" if len(people) == 1 else f"are only {len(people)} approvers"
        raise explained(f"asks for {approvals} approvals, and there {those}", "name more approvers, or ask for fewer")
    return approvals


class Escalation(Section):
    """Who is called, too, where a request has waited for so long."""

    after_minutes: Annotated[int, Field(ge=1, le=720)] = Field(
        description="how long a request has waited for approval: 1 to 720 minutes, less than expires_minutes"
    )
    ping: Annotated[PeopleOrGroups, AfterValidator(not_empty)] = Field(
        description="who is called then: some of the rule's approvers, as T0123ABCD:U0123ABCD or S0123ABCD"
    )


def _can_approve(steps: tuple[Escalation, ...], info: ValidationInfo) -> tuple[Escalation, ...]:
    """Nobody is woken who could only look on; and the next group comes later than the one before."""
    approvers = set(info.data.get("approvers", ()))
    for step in steps:
        if others := [person for person in step.ping if approvers and person not in approvers]:
            raise explained(f"calls {others[0]}, who is not among the approvers", "name them under `approvers:`, too")
    minutes = [step.after_minutes for step in steps]
    if minutes != sorted(set(minutes)):
        raise explained("is not in order", "begin with the fewest `after_minutes`, and give each step more")
    return steps


class FixRule(Section):
    """These people may approve these fixes on these clusters."""

    clusters: Clusters = Field(description="a list of cluster names, with * and ? as in a shell")
    remedies: Remedies = Field(default=("*",), description="a list of remedies, with * and ?: [reconcile-*]")
    approvers: PeopleOrGroups = Field(
        description="a list of T0123ABCD:U0123ABCD and user groups S0123ABCD; empty: nobody"
    )
    approvals: Annotated[int, Field(ge=1, le=3), AfterValidator(_can_be_given)] = Field(
        default=1, description="how many people: 1, 2 or 3; not more than there are approvers"
    )
    requester_counts: bool = Field(default=True, description="true, or false: whoever asks cannot approve")
    reason: bool = Field(default=False, description="true: whoever asks must say why")
    ping: PeopleOrGroups = Field(
        default=(), description="who is called: as approvers; empty: the approvers whom no step of escalate calls"
    )
    escalate: Annotated[tuple[Escalation, ...], BeforeValidator(listed), AfterValidator(_can_approve)] = Field(
        default=(), description="a list of steps, each with after_minutes and ping: who is called, too, and when"
    )
    highest_risk: Annotated[HighestRisk, BeforeValidator(_risk)] = Field(
        default=HighestRisk.HIGH, description="low, medium or high"
    )
    frozen: Names = Field(default=(), description="the names of freezes in which this rule does not work")
    break_glass: PeopleOrGroups = Field(
        default=(), description="who may, alone and with a reason, in spite of freezes and missing approvals"
    )

    @property
    def approving_groups(self) -> tuple[str, ...]:
        """The user groups whose members Slack must list before anybody's approval counts."""
        return _groups(self.approvers)

    @property
    def glass_groups(self) -> tuple[str, ...]:
        return _groups(self.break_glass)

    @property
    def needs_everybody(self) -> bool:
        """Where one of the approvers asks, the others are too few. Only Slack knows how many a group has."""
        too_few = len(set(self.approvers)) == self.approvals and not self.approving_groups
        return too_few and not self.requester_counts

    def covers(self, cluster: str, remedy: str) -> bool:
        clusters = any(fnmatchcase(cluster.lower(), glob.lower()) for glob in self.clusters)
        return clusters and any(fnmatchcase(remedy, glob) for glob in self.remedies)


class Fixes(Section):
    """The section. The first rule that covers a cluster and a remedy decides."""

    rules: Annotated[tuple[FixRule, ...], BeforeValidator(listed)] = Field(
        default=(), description="a list of rules, each with clusters and approvers; the first that fits counts"
    )
    freezes: Annotated[tuple[Freeze, ...], BeforeValidator(listed)] = Field(
        default=(), description="a list of freezes, each with a name and days, times or dates"
    )
    expires_minutes: Annotated[int, Field(ge=1, le=720)] = Field(
        default=30, description="how long an offer can be taken up: 1 to 720 minutes"
    )

    @model_validator(mode="after")
    def _names_what_is_there(self) -> Self:
        known = {freeze.name for freeze in self.freezes}
        for number, rule in enumerate(self.rules, 1):
            for name in rule.frozen:
                if name not in known:
                    what = f"names in rule {number} the freeze {name!r}, and there is none of that name"
                    raise explained(what, "correct the name, or add the freeze under `freezes:`")
            for step in rule.escalate:
                if step.after_minutes >= self.expires_minutes:
                    what = f"calls someone in rule {number} after {step.after_minutes} minutes"
                    what += f", and a request expires after {self.expires_minutes}"
                    raise explained(what, "give it fewer `after_minutes`, or raise `expires_minutes:`")
        return self

    def rule_for(self, cluster: str, remedy: str) -> tuple[int, FixRule] | None:
        """The rule that decides, and its number from 1."""
        for number, rule in enumerate(self.rules, 1):
            if rule.covers(cluster, remedy):
                return number, rule
        return None

    def freeze_on(self, rule: FixRule, now: datetime) -> Freeze | None:
        """The freeze that blocks this rule now."""
        return next((freeze for freeze in self.freezes if freeze.name in rule.frozen and freeze.holds(now)), None)
