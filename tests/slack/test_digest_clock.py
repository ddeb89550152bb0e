"""A digest is begun once a day, however many processes look at the clock and however often they are started anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.address import Address
from bot.policy.digests import DigestRule
from bot.policy.file import read
from bot.queue.job import Job
from bot.slack.digest.clock import LATE, DigestClock, job_name
from bot.slack.digest.handlers import DIGEST
from bot.slack.inbound.asks import Ask
from bot.store.connect import Connection, connected
from bot.store.state import State

RULE = DigestRule(channel="C0123ABCD", at="08:00", time_zone="Europe/Amsterdam", clusters=("prod-*",))
DUE = datetime(2026, 3, 4, 7, 0, tzinfo=UTC)
"""Eight o'clock there in winter."""


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[Connection]:
    async with connected(None, tmp_path) as opened:
        yield opened


@dataclass
class Site:
    """The store that processes share, and what they have put into the queue."""

    state: State
    jobs: list[Job[Ask]] = field(default_factory=list)

    def process(self, at: datetime, *rules: DigestRule) -> DigestClock:
        async def submit(job: Job[Ask]) -> None:
            self.jobs.append(job)

        async def team() -> str:
            return "T1"

        return DigestClock(rules or (RULE,), team, self.state, submit, now=lambda: at)


@pytest.fixture
def site(connection: Connection) -> Site:
    return Site(State(connection.redis))


@pytest.mark.parametrize(
    ("after", "begun"),
    [(-1, False), (0, True), (60, True), (LATE.total_seconds() / 60, False)],
    ids=["a minute before", "on time", "an hour late", "too late for a morning"],
)
async def test_it_is_begun_when_it_is_due_there_and_for_some_hours(site: Site, after: float, begun: bool) -> None:
    await site.process(DUE + timedelta(minutes=after)).once()
    assert bool(site.jobs) is begun


async def test_the_clock_of_the_place_counts_in_summer_too(site: Site) -> None:
    summer = datetime(2026, 7, 1, 6, 0, tzinfo=UTC)
    await site.process(summer).once()
    assert [job.id for job in site.jobs] == [job_name(RULE, summer)]


async def test_one_process_begins_it_once(site: Site) -> None:
    clock = site.process(DUE)
    await clock.once()
    await clock.once()
    assert len(site.jobs) == 1


async def test_two_processes_give_the_queue_one_id(site: Site) -> None:
    for _ in range(2):
        await site.process(DUE).once()
    assert len({job.id for job in site.jobs}) == 1


async def test_a_process_that_starts_after_it_was_posted_does_not_begin_it_again(site: Site) -> None:
    await site.state.record_posted(job_name(RULE, DUE), DIGEST, Address(channel="C0123ABCD", message_ts="1.2"))
    await site.process(DUE + timedelta(minutes=5)).once()
    assert site.jobs == []


async def test_each_day_and_each_rule_has_its_own(site: Site) -> None:
    other = RULE.model_copy(update={"clusters": ("dev-*",)})
    await site.process(DUE, RULE, other).once()
    await site.process(DUE + timedelta(days=1), RULE).once()
    assert len({job.id for job in site.jobs}) == 3


def test_the_policy_says_what_is_wrong_with_a_digest(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        'digests:\n  - channel: C0123ABCD\n    at: "8:00"\n  - channel: C0123ABCD\n    time_zone: Mars/Phobos\n'
    )
    policy, complaints = read(file)
    assert policy is None
    assert [(one.line, one.what.split("`")[1]) for one in complaints] == [
        (3, "digests.1.at"),
        (5, "digests.2.time_zone"),
    ]


def test_a_digest_of_the_policy_is_read_with_its_defaults(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("digests:\n  - channel: C0123ABCD\n")
    policy, complaints = read(file)
    assert complaints == []
    assert policy is not None
    assert policy.digests == (DigestRule(channel="C0123ABCD", at="08:00", time_zone="UTC", clusters=("*",)),)
