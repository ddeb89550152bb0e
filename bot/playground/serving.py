"""`aksbot sandbox`: serves one scenario for people with az, kubectl, aksbot and a browser."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.playground.env_file import written
from bot.playground.surroundings import azure, slack
from bot.queue.stop_signal import stop_requested, unless_stopped
from bot.render.clean import width, wrapped
from bot.render.line import Line
from bot.render.terminal import show_lines
from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from sandbox.slack.cast import on_call_workspace
from sandbox.slack.server import SlackServer


async def serve(scenario: Scenario, env_file: Path | None, port: int) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    await unless_stopped(_serve(scenario, env_file, port))


async def _serve(scenario: Scenario, env_file: Path | None, port: int) -> None:
    async with azure(scenario.world, port=port) as arm, slack(on_call_workspace()) as chat:
        with _folder(arm) as folder, written(env_file, environment := _environment(arm, chat, folder)):
            show_lines(_how_to_use(scenario, arm, chat, environment))
            sys.stdout.flush()
            await stop_requested()


def _environment(arm: ArmServer, chat: SlackServer, folder: Path) -> dict[str, str]:
    """The environment: a reader for aksbot and azure-identity; a writer for kubectl, because people try things.

    A bot that uses it keeps its state here: what happens in the sandbox must not mix with real state.
    """
    kubeconfig = folder / "kubeconfig"
    return {
        **arm.environment("reader"),
        **({"KUBECONFIG": str(kubeconfig)} if kubeconfig.exists() else {}),
        **chat.environment,
        "AKSBOT_DATA_DIR": str(folder / "state"),
    }


@contextmanager
def _folder(arm: ArmServer) -> Iterator[Path]:
    """A folder for the time of serving: it holds a kubeconfig with a context for each cluster, by name."""
    # A bot that is still running may leave files behind when the folder is removed.
    with tempfile.TemporaryDirectory(prefix="aksbot-sandbox-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if arm.kube:
            file = folder / "kubeconfig"
            file.touch(mode=0o600)
            file.write_text(arm.kubeconfig("writer" if _writer(arm) else "reader"))
        yield folder


def _how_to_use(scenario: Scenario, arm: ArmServer, chat: SlackServer, environment: dict[str, str]) -> list[Line]:
    columns = width()
    lines = [Line.of((f"{scenario.name}: {scenario.title}", "title"))]
    lines += [Line.of((text, "")) for text in wrapped(scenario.story, columns=columns)]
    lines += [Line(), Line.of((f"Azure is on {arm.url}, until Ctrl-C", "heading"))]
    lines += [Line.of((f"Slack is on {chat.page_url}", "heading")), Line()]
    lines += [Line.of(("For aksbot, in another terminal:", ""))]
    lines += [_export(key, value) for key, value in environment.items()]
    lines += [Line.of(("  aksbot check prod-weu", "command"))]
    lines += [Line.of(("  aksbot serve        # then ask it in that Slack: /aks check prod-weu", "command"))]
    lines += [Line.of(("  kubectl --context prod-weu get nodes", "command")), Line()]
    lines += [Line.of(("For az, there as well, as someone who may write:", ""))]
    return lines + [Line.of((f"  {command}", "command")) for command in _az(_writer(arm) or environment)]


def _writer(arm: ArmServer) -> dict[str, str] | None:
    """The writer for az, because a reader cannot make fixes. A person's own scenario may have none."""
    known = any(principal.name == "writer" for principal in arm.world.principals)
    return arm.environment("writer") if known else None


def _az(environment: dict[str, str]) -> list[str]:
    """A config folder of its own, so that the person's az login stays unchanged. Outside Azure's clouds az signs in as
    to AD FS.
    """
    url = environment["AKSBOT_AZURE_RESOURCE_MANAGER"]
    secret = shlex.quote(environment["AZURE_CLIENT_SECRET"])
    return [
        "export AZURE_CONFIG_DIR=$(mktemp -d)",
        f"export REQUESTS_CA_BUNDLE={shlex.quote(environment['AKSBOT_CA_BUNDLE'])}",
        f"az cloud register --name sandbox --endpoint-resource-manager {url} \\",
        f"  --endpoint-active-directory {url}/adfs --endpoint-active-directory-resource-id {url} \\",
        f"  --endpoint-management {url}",
        "az cloud set --name sandbox",
        "az config set core.instance_discovery=false",
        f"az login --service-principal --username {environment['AZURE_CLIENT_ID']} --password {secret} --tenant adfs",
    ]


def _export(key: str, value: str) -> Line:
    return Line.of((f"  export {key}={shlex.quote(value)}", "command"))
