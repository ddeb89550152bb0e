"""What the bot talks to, in a process of its own: Azure, Slack without its rate limits, the server of its state."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import orjson

from bot.store.embedded import EmbeddedServer
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.server import SlackServer
from sandbox.slack.workspace import Person, Workspace

FLEET = (
    "arc-bridge-hq",
    "dev-shared",
    "edge-nexus-01",
    "edge-nexus-02",
    "payments-prod",
    "prod-eus2",
    "prod-weu",
    "staging-neu",
)
WORKSPACES, PEOPLE = 20, 200
POLICY = "look:\n  slack_connect: ['*']\n"
"""Who comes from another workspace may look; Slack is asked about everybody all the same, because guests may not."""
_REFILL_EVERY_S = 0.05


def person_id(number: int) -> str:
    return f"U{number % PEOPLE:08d}"


def team_id(number: int) -> str:
    return f"T{number % WORKSPACES:08d}"


def company() -> Workspace:
    """The workspace where the bot is installed, and people of others who share channels with it."""
    people = [Person(f"person-{one}", person_id(one), home_team=team_id(one)) for one in range(PEOPLE)]
    return Workspace("Contoso Platform", people, [])


async def serve() -> None:
    """Serve until the other end says so."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            EmbeddedServer(Path(folder)) as state,
            ArmServer(Scenario.load("healthy-fleet").world) as arm,
            SlackServer(company()) as slack,
        ):
            policy = Path(folder, "policy.yaml")
            policy.write_text(POLICY)  # noqa: ASYNC240 - before anybody is served
            environment = {
                "AKSBOT_POLICY": str(policy),
                **arm.environment("reader"),
                **slack.environment,
                "REDIS_URL": state.url,
            }
            # With it, the bot would take Socket Mode.
            del environment["SLACK_APP_TOKEN"]
            sys.stdout.write(orjson.dumps(environment).decode() + "\n")
            sys.stdout.flush()
            ended = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
            while not ended.done():
                # What is measured is the bot, not Slack's brake on it.
                slack.limits.refill()
                slack.log.clear()
                await asyncio.wait([ended], timeout=_REFILL_EVERY_S)


if __name__ == "__main__":
    asyncio.run(serve())
