"""Everything a bot needs in the sandbox: its Azure, its Slack, its state; and the bot itself, as `serve` runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from bot.app import Bot, running
from bot.checks.store.running import RunningChecks
from bot.fixes.times import Times
from bot.http.slack import SLACK_PATH
from bot.playground.demo_policy import demo_policy
from bot.settings import Settings
from bot.store.connect import connected
from handlers.clients.access import AzureAccess
from handlers.problem import Exit, Problem
from sandbox.arm.server import ArmServer
from sandbox.slack.server import SlackServer
from sandbox.slack.workspace import Workspace
from sandbox.world import World

HERE = "127.0.0.1"
_DRAIN_S = 1.0
"""Whoever presses Ctrl-C waits for no answer."""

T = TypeVar("T", ArmServer, SlackServer)


class OwnSettings(Settings):
    """Reads neither environment nor file: those of this process point to a real Azure and a real Slack."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def own_settings(**values: Any) -> Settings:
    """The defaults, except for these."""
    return OwnSettings(**values)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The running Azure, Slack and bot."""

    arm: ArmServer
    slack: SlackServer
    bot: Bot
    checks: RunningChecks
    """What the bot remembers of its answers."""


@asynccontextmanager
async def azure(world: World, *, port: int = 0) -> AsyncIterator[ArmServer]:
    """An Azure with its clusters."""
    async with AsyncExitStack() as stack:
        yield await _served(stack, ArmServer(world, port=port), port)


@asynccontextmanager
async def slack(workspace: Workspace, *, port: int = 0) -> AsyncIterator[SlackServer]:
    """A Slack in which the bot is installed."""
    async with AsyncExitStack() as stack:
        yield await _served(stack, SlackServer(workspace, port=port), port)


@asynccontextmanager
async def running_bot(
    arm: ArmServer,
    slack: SlackServer,
    redis_url: str,
    data_dir: Path,
    *,
    over_http: bool = False,
    times: Times | None = None,
) -> AsyncIterator[Surroundings]:
    """The whole bot, in Socket Mode or over HTTP. Members of the approvers group approve fixes."""
    chosen = own_settings(
        policy=demo_policy(data_dir, slack.control.team),
        azure_resource_manager=arm.url,
        azure_authority=arm.url,
        ca_bundle=arm.ca_file,
        data_dir=data_dir,
        http_port=0,
        kubeconfig=arm.site_kubeconfig,
        redis_url=SecretStr(redis_url),
        slack_api_url=slack.url,
        slack_bot_token=SecretStr(slack.bot_token),
        slack_app_token=None if over_http else SecretStr(slack.app_token),
        slack_signing_secret=SecretStr(slack.signing_secret),
    )
    async with (
        connected(redis_url, data_dir) as connection,
        running(chosen, host=HERE, azure=reader_of(arm), times=times, drain_s=_DRAIN_S) as bot,
    ):
        if over_http:
            await slack.connect_http(f"http://{HERE}:{bot.site.port}{SLACK_PATH}")
        yield Surroundings(arm, slack, bot, RunningChecks(connection.redis))


def reader_of(arm: ArmServer) -> AzureAccess:
    """A reader of the sandbox, whatever this process's environment says about Azure."""
    environment = arm.environment("reader")
    return AzureAccess(
        resource_manager=arm.url,
        authority=arm.url,
        ca_bundle=arm.ca_file,
        identity=environment,
        log_analytics=environment["AKSBOT_LOG_ANALYTICS"],
    )


async def _served(stack: AsyncExitStack, server: T, port: int) -> T:
    try:
        return await stack.enter_async_context(server)
    except OSError as taken:
        why, do = taken.strerror or str(taken), "choose another port, or 0 for a free one"
        raise Problem(f"cannot serve on port {port}", why, do, code=Exit.USAGE) from taken
