"""The command line. Parsing only: each command returns what to run, and `bot.cli.process` runs it.

Nothing heavy is imported here, so that `aksbot --help` is quick.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bot.cli import process
from bot.cli.audit_commands import audit_app
from bot.cli.process import Act, Output, OutputOption
from handlers.problem import Exit, Problem


class Role(StrEnum):
    ALL = "all"
    WEB = "web"
    WORKER = "worker"


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class Over(StrEnum):
    SOCKET = "socket"
    HTTP = "http"


app = typer.Typer(
    name="aksbot",
    help="Diagnose Azure Kubernetes clusters: the root cause, the proof, and what to do.",
    epilog="Exit codes: 0 clear, 1 found, 2 inconclusive, 64 wrong use, 69 unavailable.",
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
)
runbooks_app = typer.Typer(help="The runbooks: one page per problem the bot knows.", no_args_is_help=False)
app.add_typer(runbooks_app, name="runbooks")
policy_app = typer.Typer(
    help="The policy file: who may view which cluster, and who may approve fixes.", no_args_is_help=False
)
app.add_typer(policy_app, name="policy")
app.add_typer(audit_app, name="audit")

Code = Annotated[str, typer.Argument(help="A finding code, such as subnet-full.", show_default=False)]


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"aksbot {version('aksbot')}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Write the log to stderr, with tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    # `--debug` is accepted anywhere on the line, so it is removed before this is called.
    """Diagnose Azure Kubernetes clusters: the root cause, the proof, and what to do."""


@app.command()
def check(
    cluster: Annotated[str, typer.Argument(help="A name, an ARM id, a portal URL; or all.", show_default=False)],
    about: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[AREA] [QUESTION]",
            help="An area; and one of: from IP, node NAME, pod NS/POD, ns NAMESPACE, path NS/POD NS/SERVICE:PORT, "
            "rbac NS/SERVICEACCOUNT VERB RESOURCE, logs.",
            show_default=False,
        ),
    ] = None,
    area: Annotated[str | None, typer.Option(help="Check one area only, such as network.")] = None,
    only: Annotated[str | None, typer.Option(metavar="CODE", help="Check for one finding code only.")] = None,
    detectors: Annotated[
        bool, typer.Option("--detectors", help="Run Azure's own detectors too (Diagnose and solve problems).")
    ] = False,
    output: OutputOption = Output.TEXT,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE.zip", help="Save the redacted answers for `aksbot replay`.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(min=1, max=600, metavar="SECONDS", help="Time limit of the whole check.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Check again and again until Ctrl-C.")] = False,
    every: Annotated[
        float, typer.Option(min=1, max=86400, metavar="SECONDS", help="With --watch: how long to wait in between.")
    ] = 60,
) -> Act:
    """Find out what is wrong with a cluster, and why."""

    def act() -> int:
        from bot.checks.words import scope_of
        from bot.cli.check import check_cluster, watch_cluster

        scope, as_json = scope_of(about or (), area, only, detectors=detectors), output is Output.JSON
        if watch:
            return watch_cluster(cluster, scope, as_json=as_json, record=record, timeout_s=timeout, every_s=every)
        if cluster.lower() == "all" and record is None:
            from bot.cli.fleet.check_all import check_all

            return check_all(scope, as_json=as_json, timeout_s=timeout)
        return check_cluster(cluster, scope, as_json=as_json, record=record, timeout_s=timeout)

    return act


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A recording, as `check --record` writes it.", show_default=False)],
    output: OutputOption = Output.TEXT,
) -> Act:
    """Repeat a recorded check, offline."""

    def act() -> int:
        from bot.cli.check import replay_recording

        return replay_recording(file, as_json=output is Output.JSON)

    return act


@app.command()
def support(
    cluster: Annotated[str, typer.Argument(help="A name, an ARM id or a portal URL.", show_default=False)],
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE.zip", help="Output file; default: support-CLUSTER-TIME.zip.", show_default=False),
    ] = None,
    output: OutputOption = Output.TEXT,
) -> Act:
    """Collect what Azure support asks for about a cluster, redacted, in a zip file."""

    def act() -> int:
        from bot.cli.support import make_packet

        return make_packet(cluster, file, as_json=output is Output.JSON)

    return act


@app.command()
def plan(
    cluster: Annotated[str, typer.Argument(help="A name, an ARM id or a portal URL.", show_default=False)],
    remedy: Annotated[
        str | None, typer.Argument(help="A remedy, such as reconcile-pool; default: list them.", show_default=False)
    ] = None,
    output: OutputOption = Output.TEXT,
) -> Act:
    """Show what a fix would do, or why there is none. Without a remedy: list all that fit. Changes nothing."""

    def act() -> int:
        from bot.cli.plan import list_fixes, plan_fix

        if remedy is None:
            return list_fixes(cluster, as_json=output is Output.JSON)
        return plan_fix(cluster, remedy, as_json=output is Output.JSON)

    return act


@app.command()
def changes(
    cluster: Annotated[str, typer.Argument(help="A name, an ARM id or a portal URL.", show_default=False)],
    back: Annotated[
        str | None,
        typer.Argument(metavar="[BACK]", help="How far back: 90m, 2h, 3d; default: 24h.", show_default=False),
    ] = None,
    output: OutputOption = Output.TEXT,
) -> Act:
    """Show who changed what on a cluster, newest first, from the activity log."""

    def act() -> int:
        from bot.cli.fleet.changes import show_changes

        return show_changes(cluster, back, as_json=output is Output.JSON)

    return act


@app.command()
def history(
    cluster: Annotated[str, typer.Argument(help="A name, an ARM id or a portal URL.", show_default=False)],
) -> Act:
    """Show the past verdicts on a cluster and the fixes that ran there."""

    def act() -> int:
        from bot.cli.fleet.history import show_history

        return show_history(cluster)

    return act


@app.command()
def clusters() -> Act:
    """List the fleet by last verdict. `aksbot check all` checks it."""

    def act() -> int:
        from bot.cli.fleet.history import show_clusters

        return show_clusters()

    return act


@app.command()
def explain(
    text: Annotated[list[str] | None, typer.Argument(help="The error text; default: standard input.")] = None,
    output: OutputOption = Output.TEXT,
) -> Act:
    """Recognise a pasted error and show its runbook. Does not call Azure."""

    def act() -> int:
        from bot.cli.explain import explain_text

        return explain_text(" ".join(text) if text else None, as_json=output is Output.JSON)

    return act


@app.command()
def triage(
    text: Annotated[list[str] | None, typer.Argument(help="One message.")] = None,
    jsonl: Annotated[
        Path | None,
        typer.Option("--jsonl", metavar="FILE", help="Messages, one JSON object with `text` per line; - is stdin."),
    ] = None,
    clusters: Annotated[
        str | None, typer.Option(metavar="A,B,C", help="Names of the fleet's clusters; default: ask Azure.")
    ] = None,
    output: OutputOption = Output.TEXT,
) -> Act:
    """Recognise cluster and problem in a message. Shows the reasons, also for staying quiet."""

    def act() -> int:
        from bot.cli.triage import triage_file, triage_text

        if (jsonl is None) == (not text):
            do = "write `aksbot triage 'prod-weu: nodes are NotReady'`, or `aksbot triage --jsonl FILE`"
            raise Problem("cannot triage", "give a message or a file, one of them", do, code=Exit.USAGE)
        if jsonl is not None:
            return triage_file(jsonl, clusters)
        return triage_text(" ".join(text or ()), clusters, as_json=output is Output.JSON)

    return act


@app.command()
def serve(
    role: Annotated[Role | None, typer.Option(help="`all` in one process, or `web` and `worker` processes.")] = None,
) -> Act:
    """Run the Slack bot until Ctrl-C or SIGTERM."""

    def act() -> int:
        from bot.cli.serve import serve_slack

        return serve_slack(role.value if role else None)

    return act


@app.command()
def sandbox(
    scenario: Annotated[str, typer.Argument(help="A scenario's name or folder.", show_default=False)],
    env_file: Annotated[Path | None, typer.Option(help="Write the environment to this file when it is ready.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free one.")] = 0,
) -> Act:
    """Serve a local Azure and a local Slack until Ctrl-C."""

    def act() -> int:
        from bot.cli.sandbox import serve_scenario

        return serve_scenario(scenario, env_file=env_file, port=port)

    return act


@app.command()
def demo(
    once: Annotated[bool, typer.Option("--once", help="Check the fleet in the terminal instead, and exit.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the web page; 0: any free one.")] = 0,
    stay: Annotated[bool, typer.Option("--stay", help="Run until Ctrl-C even without a terminal.")] = False,
) -> Act:
    """Run the demo: a fleet, a Slack and the bot on this machine. Needs no Azure."""

    def act() -> int:
        from bot.cli.demo import run_demo

        return run_demo(once=once, port=port, stay=stay)

    return act


@app.command()
def drill(
    scenario: Annotated[str | None, typer.Argument(help="A scenario's name or folder.", show_default=False)] = None,
    all_of_them: Annotated[bool, typer.Option("--all", help="Run every scenario that comes with aksbot.")] = False,
    twins: Annotated[bool, typer.Option("--twins", help="Run their twins too, which differ in one fact.")] = False,
    over: Annotated[Over, typer.Option(help="How Slack reaches the bot.")] = Over.SOCKET,
    output: OutputOption = Output.TEXT,
) -> Act:
    """Run scenarios end to end in a local Slack. Compares the bot's answers with what is expected."""

    def act() -> int:
        from bot.cli.drill import run_drill

        as_json, over_http = output is Output.JSON, over is Over.HTTP
        return run_drill(scenario, all_of_them=all_of_them, twins=twins, over_http=over_http, as_json=as_json)

    return act


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell; `source <(aksbot completion bash)` loads it.")],
) -> Act:
    """Print the script that completes command lines of aksbot in a shell."""

    def act() -> int:
        from bot.cli.completion.scripts import WRITERS
        from bot.cli.completion.words import spoken

        typer.echo(WRITERS[shell.value](spoken(typer.main.get_command(app))), nl=False)
        return Exit.CLEAR

    return act


@runbooks_app.command("list")
def list_runbooks(output: OutputOption = Output.TEXT) -> Act:
    """List every finding code that the bot knows."""

    def act() -> int:
        from bot.cli.runbooks import list_all

        return list_all(as_json=output is Output.JSON)

    return act


@runbooks_app.command("show")
def show_runbook(code: Code) -> Act:
    """Show one runbook. <name> stands for a value that a check fills in."""

    def act() -> int:
        from bot.cli.runbooks import show

        return show(code)

    return act


@runbooks_app.command("catalogue")
def write_catalogue(
    file: Annotated[
        Path | None, typer.Argument(help="Output file; default: docs/catalogue.md.", show_default=False)
    ] = None,
) -> Act:
    """Write the table of every problem the bot knows."""

    def act() -> int:
        from bot.cli.runbooks import write_catalogue

        return write_catalogue(file)

    return act


@runbooks_app.command("lint")
def lint_runbooks(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder of runbooks; default: all runbooks in use.", show_default=False)
    ] = None,
) -> Act:
    """Report invalid runbooks, by file and line."""

    def act() -> int:
        from bot.cli.runbooks import lint_folder

        return lint_folder(folder)

    return act


@policy_app.command("lint")
def lint_policy(
    file: Annotated[
        Path | None, typer.Argument(help="A policy file; default: AKSBOT_POLICY.", show_default=False)
    ] = None,
) -> Act:
    """Report what is wrong with the policy file, by line."""

    def act() -> int:
        from bot.cli.policy import lint

        return lint(file)

    return act


@policy_app.command("keys")
def show_policy_keys() -> Act:
    """List every key of the policy file, with what it is and what holds without it (Markdown)."""

    def act() -> int:
        from bot.policy.reference import keys

        typer.echo(keys().strip())
        return Exit.CLEAR

    return act


@policy_app.command("explain")
def explain_policy(
    cluster: Annotated[str, typer.Argument(help="A cluster's name.", show_default=False)],
    user: Annotated[str | None, typer.Option(metavar="TEAM:USER", help="The user; default: anybody.")] = None,
    channel: Annotated[
        str, typer.Option(metavar="ID", help="The channel; `direct` is App Home and direct messages.")
    ] = "direct",
    group: Annotated[list[str] | None, typer.Option(metavar="ID", help="A user group of the user.")] = None,
    guest: Annotated[bool, typer.Option("--guest", help="The user is a guest.")] = False,
    stranger: Annotated[
        bool, typer.Option("--stranger", help="The user belongs to another company (Slack Connect).")
    ] = False,
    remedy: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show who may approve this fix, such as reconcile-pool.")
    ] = None,
    output: OutputOption = Output.TEXT,
) -> Act:
    """Show whether a user may view a cluster or, with --remedy, approve a fix. Exit 0 for yes, 1 for no."""

    def act() -> int:
        from bot.cli.policy import explain
        from bot.cli.policy_fixes import explain_fix

        if remedy is not None:
            who = (user, group or [], guest, stranger)
            return explain_fix(cluster, remedy, *who, as_json=output is Output.JSON)
        return explain(
            cluster,
            user=user,
            channel=channel,
            groups=group or [],
            guest=guest,
            stranger=stranger,
            as_json=output is Output.JSON,
        )

    return act


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    own, literal = _split(arguments)
    debug = "--debug" in own
    words = [word for word in own if word != "--debug"] + literal
    as_json = process.wants_json(own)
    try:
        act = app(args=words or ["--help"], prog_name="aksbot", standalone_mode=False)
    except typer.TyperException as misuse:
        return process.run(_refuse(misuse), as_json=as_json, debug=debug)
    if not callable(act):
        # `--help` has been printed.
        return int(act or 0) if words else int(Exit.USAGE)
    return process.run(act, as_json=as_json, debug=debug)


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Everything after `--` belongs to the command, even if it looks like an option."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at:]


def _refuse(misuse: typer.TyperException) -> Act:
    text = misuse.format_message() if hasattr(misuse, "format_message") else str(misuse)
    context = getattr(misuse, "ctx", None)
    command = context.command_path if context else "aksbot"

    def act() -> int:
        what, do = "cannot understand that command line", f"see `{command} --help`"
        raise Problem(what, text.strip().rstrip("."), do, code=Exit.USAGE) from misuse

    return act
