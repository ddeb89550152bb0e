"""An alert storm: 2,000 messages about 20 clusters in one minute, plus 2,000 unrelated, with long pastes and files
among them; Slack's rate limits apply."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from redis.asyncio import Redis

from bot.incidents.store import read_book
from bot.slack.inbound.message_reader import Me, read
from bot.store import keys
from bot.store.embedded import EmbeddedServer
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.message import Message
from sandbox.slack.server import SlackServer
from sandbox.slack.workspace import Channel, Person, Workspace, make_id
from tests.bench.bulk import bulk
from tests.bench.figure import Figure
from tests.bench.serve_watched import FILE as STALLS
from tests.deploy.slack_manifests import shipped
from tests.incidents.pasted import PASTED

CLUSTERS = (
    *(f"dev-shared-{number:02}" for number in range(1, 17)),
    "prod-weu",
    "prod-eus2",
    "staging-neu",
    "dev-shared",
)
CHANNELS = tuple(f"inc-{number}" for number in range(10))
MESSAGES, FOR_S = 2000, 60
PEOPLE, CARDS = 100, 0.8
"""Most messages in a storm are from alert apps."""
TURN_S = 15
FLOOR_S, BURST = 1.0, 3
"""One message a second in a channel, after the first few."""
DRAINED_WITHIN_S = 20.0
MONITORS = ("Datadog", "Grafana", "PagerDuty")
SAID = (
    "{cluster}: upgrade failed with ErrCode_InsufficientVCPUQuota, insufficient vcpu quota",
    "cannot add nodes to {cluster}, out of vCPU quota: ErrCode_InsufficientVCPUQuota",
    "QuotaExceeded on {cluster}: exceeding approved standardDSv5Family Cores quota",
)
CHATTER = (
    "lunch?",
    "release 4.{n} rolled out successfully",
    "who has the slides of last week?",
    "thanks all :tada:",
    "PR {n} is up, please review",
)
BULKY = 40
"""One in this many unrelated messages is a long paste or, alternately, a file."""
LONGEST_PASTE = 40_000
"""Slack's own limit; longer texts are shared as files."""
FIRST_READ = 7
"""The sample of the memory, one every 3 s, by which the first turns are over (15 s) and what reads them is loaded."""
SERVE = Path(__file__).with_name("serve_watched.py")


@dataclass
class Storm:
    """The messages sent and the results measured afterwards."""

    reports: list[tuple[Message, str]] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    began: float = 0.0
    """On the system clock, which the bot's process shares."""


def figures() -> Iterator[Figure]:
    yield _pasted()
    yield from asyncio.run(_storm())


def _pasted() -> Figure:
    """What somebody may paste, read to its end."""
    me, now = Me("U0AKSBOT", "B0AKSBOT", "A0AKSBOT"), 1_800_000_000.0
    worst_ms, worst = 0.0, ""
    for name, body in PASTED.items():
        took = []
        for _ in range(3):
            began = time.perf_counter()
            read(body, me, now)
            took.append(time.perf_counter() - began)
        if min(took) * 1000 > worst_ms:
            worst_ms, worst = min(took) * 1000, name
    return Figure("hearing-hostile", worst_ms, "ms", 50, f"reading the slowest of {len(PASTED)}: {worst}")


async def _storm() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            EmbeddedServer(Path(folder)) as state,
            ArmServer(fleet_of_twenty(Path(folder, "fleet")).world) as arm,
            SlackServer(workspace(), manifest=shipped()) as slack,
            Redis.from_url(state.url, decode_responses=True) as redis,
        ):
            environment = {**arm.environment("reader"), **slack.environment, "REDIS_URL": state.url}
            environment["AKSBOT_POLICY"] = str(policy_for_monitors(Path(folder), slack.control.team))
            async with serving(environment, Path(folder)) as pid:
                storm = await _rage(slack, pid)
                await _drained(redis, slack)
                judged = await _judged(storm, slack, arm, redis)
            return [*judged, _stall(Path(folder), storm.began)]


def fleet_of_twenty(folder: Path) -> Scenario:
    folder.mkdir()
    clusters = "".join(
        f"    {name}:\n      subscription: development\n      group: rg-{name}\n      location: westeurope\n"
        "      version: 1.35.6\n      created: now-90d\n      tier: Free\n"
        "      network: { mode: overlay, policy: cilium }\n"
        "      pools:\n        system: { size: Standard_D4ds_v5, count: 2, mode: System, max_pods: 110 }\n"
        for name in CLUSTERS
        if name.startswith("dev-shared-")
    )
    spec = (
        f"title: Twenty\nstory: For measuring.\nbased_on: healthy-fleet\nfleet:\n  clusters:\n{clusters}expect: {{}}\n"
    )
    (folder / "scenario.yaml").write_text(spec)
    return Scenario.load(folder)


def workspace() -> Workspace:
    people = [Person(f"person-{number}") for number in range(PEOPLE)]
    everybody = [one.name for one in people]
    return Workspace("Contoso Platform", people, [Channel(name, [*everybody, "aksbot"]) for name in CHANNELS])


def policy_for_monitors(folder: Path, team: Workspace) -> Path:
    apps = ", ".join(make_id("A", team.domain, name) for name in MONITORS)
    file = folder / "policy.yaml"
    file.write_text(f"channels:\n  alert_apps: [{apps}]\n")
    return file


@asynccontextmanager
async def serving(environment: dict[str, str], folder: Path) -> AsyncIterator[int]:
    own = ("AKSBOT_", "AZURE_", "REDIS_", "SLACK_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    data = {"AKSBOT_HTTP_PORT": "0", "AKSBOT_DATA_DIR": str(folder / "data"), STALLS: str(folder / "stalls")}
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(SERVE), "serve"), env={**clean, **environment, **data}, cwd=folder, stderr=log
        )
        try:
            yield process.pid
        finally:
            process.terminate()
            await process.wait()
            if path := os.environ.get("AKSBOT_STORM_LOG"):
                Path(path).write_bytes((folder / "log").read_bytes())  # noqa: ASYNC240 - nobody is served any more


async def _rage(slack: SlackServer, pid: int) -> Storm:
    await slack.control.until(lambda: slack.site.sockets.count > 0, 60)
    storm, chance, loop = Storm(), random.Random(20), asyncio.get_running_loop()
    began = storm.began = loop.time()
    for number in range(2 * MESSAGES):
        await asyncio.sleep(max(0.0, began + number * FOR_S / (2 * MESSAGES) - loop.time()))
        if number % (2 * BULKY) == 1 and number > 1:
            _say_much(slack, chance, number // (2 * BULKY))
        elif number % 2:
            text = chance.choice(CHATTER).format(n=number)
            slack.control.say(f"person-{chance.randrange(PEOPLE)}", chance.choice(CHANNELS), text)
        else:
            at = number // 2 % len(CLUSTERS)
            text = chance.choice(SAID).format(cluster=CLUSTERS[at])
            # Messages about a cluster are mostly in its own channel, sometimes in another.
            channel = CHANNELS[at % len(CHANNELS)] if chance.random() < 0.95 else chance.choice(CHANNELS)
            if chance.random() < CARDS:
                said = slack.control.say_as_app(chance.choice(MONITORS), channel, "", attachments=[{"title": text}])
            else:
                said = slack.control.say(f"person-{at * 5 + chance.randrange(5)}", channel, text)
            storm.reports.append((said, CLUSTERS[at]))
        if number % 200 == 0:
            storm.memory_mb.append(_resident_mb(pid))
    return storm


def _say_much(slack: SlackServer, chance: random.Random, turn: int) -> None:
    """Send a paste or a file, alternately."""
    name, text = list(bulk().items())[turn // 2 % len(bulk())]
    person, channel = f"person-{chance.randrange(PEOPLE)}", chance.choice(CHANNELS)
    if turn % 2:
        slack.control.share(person, channel, "what.log", text.encode(), f"what is this? It is {name}")
    else:
        slack.control.say(person, channel, text[:LONGEST_PASTE])


def _stall(folder: Path, began: float) -> Figure:
    """The longest time the bot's event loop was blocked, excluding start-up."""
    stalls = [(late, own) for at, late, own in json.loads((folder / "stalls").read_text()) if at > began]
    late_s, own_s = max(stalls, default=(0.0, 0.0))
    most_own_s = max((own for _, own in stalls), default=0.0)
    load = f"the load was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    own = f"of which its own thread computed {own_s * 1000:.0f} ms, at most {most_own_s * 1000:.0f} ms"
    return Figure("storm-stall", late_s * 1000, "ms", 100, f"the longest of the event loop, {own}; {load}")


async def _drained(redis: Redis, slack: SlackServer) -> None:
    """Wait until the queue is empty, with a timeout."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + TURN_S + DRAINED_WITHIN_S
    quiet_since, before = loop.time(), -1
    while loop.time() < ends and (loop.time() - quiet_since < 4 or loop.time() < ends - DRAINED_WITHIN_S):
        said = len(slack.log)
        if said != before:
            before, quiet_since = said, loop.time()
        await asyncio.sleep(0.25)


async def _judged(storm: Storm, slack: SlackServer, arm: ArmServer, redis: Redis) -> list[Figure]:
    team = slack.control.team
    cards = [one for name in CHANNELS for one in slack.control.messages(name) if _part(one) == "card"]
    lost, turns = await _lost(storm, redis, team.id)
    books = [read_book(str(await redis.get(keys.incidents(team.id, name)) or "")) for name in CLUSTERS]
    counted = sum(one.count for book in books for one in book.incidents)
    sweeps = Counter(
        request.path.rpartition("/")[2].lower()
        for request in arm.log
        if request.method == "GET" and request.path.lower().rpartition("/")[0].endswith("/managedclusters")
    )
    late_s = _late_s(storm, cards, slack)
    half = len(storm.memory_mb) // 2
    grown = median(storm.memory_mb[half:]) / median(storm.memory_mb[FIRST_READ:half])
    rate = f"{len(storm.reports)} reports in {turns} turns among {MESSAGES} others in {FOR_S} s"
    most = max((sweeps[name] for name in CLUSTERS), default=0)
    told = f"{len(cards)} threads for {len(CLUSTERS)} clusters; {rate}"
    return [
        Figure("storm-threads-per-incident", len(cards) / len(CLUSTERS), "ratio", 1, told),
        Figure("storm-incidents-missed", len(CLUSTERS) - len({_cluster(one) for one in cards}), "incidents", 0, told),
        Figure(
            "storm-lost",
            lost + abs(turns - counted),
            "turns",
            0,
            f"{counted} of {turns} are counted in incidents, {lost} messages are not dealt with",
        ),
        Figure("storm-sweeps", most, "reads", 1, f"of one cluster's own resource; {sum(sweeps.values())} in all"),
        Figure(
            "storm-late", late_s, "s", 2, "the latest first answer, beyond its turn and Slack's floor for its channel"
        ),
        Figure(
            "storm-memory",
            grown,
            "ratio",
            1.1,
            f"from {storm.memory_mb[FIRST_READ]:.0f} to {storm.memory_mb[-1]:.0f} MB",
        ),
    ]


async def _lost(storm: Storm, redis: Redis, team: str) -> tuple[int, int]:
    """How many messages were not processed, and the total number of turns."""
    turns = [await redis.get(keys.heard(f"message {team} {said.channel} {said.ts} ")) for said, _ in storm.reports]
    done = [bool(turn and await redis.exists(keys.turn_done(str(turn)))) for turn in turns]
    return done.count(False), len({turn for turn in turns if turn})


def _late_s(storm: Storm, cards: list[Message], slack: SlackServer) -> float:
    """The longest delay of a first answer past its earliest possible time."""
    first: dict[str, Message] = {}
    for said, cluster in storm.reports:
        first.setdefault(cluster, said)
    late = []
    for card in cards:
        report = first[_cluster(card)]
        closed = float(report.ts) + (0 if report.bot_id else TURN_S)
        mine = [one for one in slack.control.messages(card.channel) if one.user == slack.control.team.bot.id]
        before = sum(closed - BURST <= float(one.ts) < float(card.ts) for one in mine)
        late.append(float(card.ts) - closed - max(0, before - BURST) * FLOOR_S)
    return max(late, default=math.inf)


def _cluster(card: Message) -> str:
    text = str(card.blocks) + card.text
    return max((name for name in CLUSTERS if f"`{name}`" in text), key=len, default="")


def _part(message: Message) -> str:
    return str(((message.metadata or {}).get("event_payload") or {}).get("part") or "")


def _resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    for figure in figures():
        sys.stdout.write(
            f"{'ok    ' if figure.ok else 'MISSED'} {figure.name} {figure.value:.3f} {figure.unit}: {figure.detail}\n"
        )
