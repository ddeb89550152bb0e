"""The bot's environment in a separate process: Azure, Slack without rate limits, Redis."""

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
"""External users may look, but guests may not, so the bot still has to look up every user in Slack."""
_REFILL_EVERY_S = 0.05


def person_id(number: int) -> str:
    return f"U{number % PEOPLE:08d}"


def team_id(number: int) -> str:
    return f"T{number % WORKSPACES:08d}"


def company() -> Workspace:
    """The workspace with the bot, and people of other workspaces in shared channels."""
    people = [Person(f"person-{one}", person_id(one), home_team=team_id(one)) for one in range(PEOPLE)]
    return Workspace("Contoso Platform", people, [])


async def serve() -> None:
    """Serve until the parent process says stop."""
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
            # With an app-level token, the bot would use Socket Mode.
            del environment["SLACK_APP_TOKEN"]
            sys.stdout.write(orjson.dumps(environment).decode() + "\n")
            sys.stdout.flush()
            ended = asyncio.create_task(asyncio.to_thread(sys.stdin.readline))
            while not ended.done():
                # Measure the bot, not Slack's rate limits.
                slack.limits.refill()
                slack.log.clear()
                await asyncio.wait([ended], timeout=_REFILL_EVERY_S)


if __name__ == "__main__":
    asyncio.run(serve())
