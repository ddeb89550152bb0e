"""An Azure on this machine: served for a person to play with, or checked for a newcomer to see what the bot does.

The only module of the product that knows the sandbox.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bot import settings
from bot.check import check_target, engine_for
from bot.clients import clients
from bot.commands.check import watched
from bot.events import Report, Scope
from bot.library import load
from bot.render.clean import one_line, width, wrapped
from bot.render.line import Line
from bot.render.report import report_lines
from bot.render.terminal import show_lines
from bot.render.verdict import label, not_checked, summary
from handlers.clients.access import AzureAccess
from handlers.clients.kube.access import KubeAccess
from handlers.clients.names import fleet
from handlers.model import State, Target
from handlers.problem import Exit, Problem
from handlers.resource_id import ResourceId

if TYPE_CHECKING:
    from sandbox.arm.server import ArmServer
    from sandbox.scenario import Scenario

DEMO, DEMO_UNTIL_THEN = "demo", "quota-blocks-upgrade"


def serve(name: str, *, env_file: Path | None, port: int) -> int:
    """Serve one scenario until Ctrl-C or SIGTERM."""
    return asyncio.run(_serve(_scenario(name), env_file, port))


def demonstrate() -> int:
    """Check every cluster of a fleet that has a problem, and print what came out."""
    return asyncio.run(_demonstrate())


async def _serve(scenario: Scenario, env_file: Path | None, port: int) -> int:
    async with _running(scenario, port) as arm:
        with _kubeconfig(arm) as kubeconfig, _written(env_file, environment := _environment(arm, kubeconfig)):
            show_lines(_how_to_use(scenario, arm, environment))
            sys.stdout.flush()
            await _until_stopped()
    return Exit.CLEAR


async def _demonstrate() -> int:
    scenario = _scenario(_demo_name())
    chosen = settings.load()
    library = load(chosen)
    engine = engine_for(library, Scope(), chosen.check_timeout_s)
    reports: list[Report] = []
    async with _running(scenario, 0) as arm, clients(_access(arm), KubeAccess()) as opened:
        for member in await fleet(opened.arm):
            target = Target(ResourceId.parse(member.id))
            reports.append(await watched(member.name, check_target(target, opened, engine)))
    columns = width()
    show_lines([Line.of((scenario.title, "title")), Line(), *_table(reports, columns)])
    for report in reports:
        if report.diagnosis.state is State.FOUND:
            show_lines([Line(), Line.of(("─" * columns, "dim")), *report_lines(report, library, columns)])
    show_lines([Line(), *_next_steps(scenario.name, columns)])
    return Exit.CLEAR


def _access(arm: ArmServer) -> AzureAccess:
    """The sandbox, whatever this process's environment says about Azure."""
    environment = arm.environment("reader")
    return AzureAccess(
        resource_manager=environment["AKSBOT_AZURE_RESOURCE_MANAGER"],
        authority=environment["AKSBOT_AZURE_AUTHORITY"],
        ca_bundle=Path(environment["AKSBOT_CA_BUNDLE"]),
        identity=environment,
    )


def _table(reports: list[Report], columns: int) -> list[Line]:
    """One line per cluster: what a person would ask first."""
    ordered = sorted(reports, key=_rank)
    longest = max((len(_name(report)) for report in ordered), default=0)
    lines = []
    for report in ordered:
        diagnosis = report.diagnosis
        roots = dict.fromkeys(ranked.finding.code for ranked in diagnosis.findings if ranked.root)
        text = ", ".join(roots) or summary(diagnosis)
        word, style = label(diagnosis)
        room = columns - longest - 16
        cut = text if len(text) <= room else text[: room - 1] + "…"
        rest = "dim" if not_checked(diagnosis) else ""
        lines.append(Line.of((f"{_name(report):<{longest}}  ", rest), (f"{word:<12}", style), (f"  {cut}", rest)))
    return lines


def _rank(report: Report) -> tuple[bool, int, str]:
    """Trouble first; what nobody looked at comes last."""
    diagnosis = report.diagnosis
    return not_checked(diagnosis), list(State).index(diagnosis.state), _name(report)


def _name(report: Report) -> str:
    return one_line(report.diagnosis.target.name)


def _next_steps(name: str, columns: int) -> list[Line]:
    text = "This fleet lives on this machine only. To ask it yourself, with aksbot or with az:"
    return [
        *(Line.of((line, "")) for line in wrapped(text, columns=columns)),
        Line.of((f"  aksbot sandbox {name}", "command")),
    ]


def _how_to_use(scenario: Scenario, arm: ArmServer, environment: dict[str, str]) -> list[Line]:
    columns = width()
    lines = [Line.of((f"{scenario.name}: {scenario.title}", "title"))]
    lines += [Line.of((text, "")) for text in wrapped(scenario.story, columns=columns)]
    lines += [Line(), Line.of((f"serving on {arm.url}, until Ctrl-C", "heading")), Line()]
    lines += [Line.of(("For aksbot, in another terminal:", ""))]
    lines += [_export(key, value) for key, value in environment.items()]
    lines += [Line.of(("  aksbot check prod-weu", "command"))]
    lines += [Line.of(("  kubectl --context prod-weu get nodes", "command")), Line()]
    lines += [Line.of(("For az, there as well, as somebody who may write:", ""))]
    return lines + [Line.of((f"  {command}", "command")) for command in _az(_writer(arm) or environment)]


def _environment(arm: ArmServer, kubeconfig: Path | None) -> dict[str, str]:
    """For aksbot and azure-identity as a reader; for kubectl as whoever may write, because people try things."""
    return arm.environment("reader") | ({"KUBECONFIG": str(kubeconfig)} if kubeconfig else {})


@contextmanager
def _kubeconfig(arm: ArmServer) -> Iterator[Path | None]:
    """A context for each cluster, by its name, for as long as the sandbox serves."""
    if not arm.kube:
        yield None
        return
    principal = "writer" if _writer(arm) else "reader"
    with tempfile.TemporaryDirectory(prefix="aksbot-kube-") as folder:
        file = Path(folder, "config")
        file.touch(mode=0o600)
        file.write_text(arm.kubeconfig(principal))
        yield file


def _writer(arm: ArmServer) -> dict[str, str] | None:
    """Fixes are made with az, and a reader may not. A scenario of a person's own may have no writer."""
    known = any(principal.name == "writer" for principal in arm.world.principals)
    return arm.environment("writer") if known else None


def _az(environment: dict[str, str]) -> list[str]:
    """Its own folder of settings, so that the person's login stays as it is. AD FS is how az signs in elsewhere."""
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


@contextmanager
def _written(file: Path | None, environment: dict[str, str]) -> Iterator[None]:
    """The environment as a file, while it is true. It appears all at once: somebody may be waiting for it."""
    if file is None:
        yield
        return
    text = "".join(f"{key}={value}\n" for key, value in environment.items())
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        # A secret is in it, if only of the sandbox.
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            out.write(text)
        beside.replace(file)
    except OSError as refused:
        beside.unlink(missing_ok=True)
        why = refused.strerror or str(refused)
        do = "name a file in a folder you may write to"
        raise Problem(f"cannot write the environment to {file}", why, do, code=Exit.USAGE) from refused
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


async def _until_stopped() -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    try:
        await stopped.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@asynccontextmanager
async def _running(scenario: Scenario, port: int) -> AsyncIterator[ArmServer]:
    from sandbox.arm.server import ArmServer

    async with AsyncExitStack() as stack:
        try:
            arm = await stack.enter_async_context(ArmServer(scenario.world, port=port))
        except OSError as taken:
            why, do = taken.strerror or str(taken), "choose another port, or 0 for a free one"
            raise Problem(f"cannot serve on port {port}", why, do, code=Exit.USAGE) from taken
        yield arm


def _demo_name() -> str:
    return DEMO if DEMO in _installed().names() else DEMO_UNTIL_THEN


def _scenario(name: str) -> Scenario:
    scenarios = _installed()
    from sandbox.scenario import BadScenario

    what = f"cannot serve the scenario {name[:80]!r}"
    if name not in scenarios.names() and not Path(name).is_dir():
        do = f"choose one of {', '.join(scenarios.names())}, or a folder"
        raise Problem(what, "there is no such scenario", do, code=Exit.USAGE)
    try:
        return scenarios.load(name)
    except BadScenario as bad:
        raise Problem(what, str(bad), "correct that file", code=Exit.USAGE) from bad


def _installed() -> type[Scenario]:
    try:
        from sandbox.scenario import Scenario
    except ModuleNotFoundError as missing:
        why = f"the Python package {missing.name} is not installed"
        raise Problem("cannot start the sandbox", why, "pip install 'aksbot[sandbox]'") from missing
    return Scenario
