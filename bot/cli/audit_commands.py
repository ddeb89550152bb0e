"""The command line of `aksbot audit`: parsing only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.process import Act, Output, OutputOption

audit_app = typer.Typer(help="The audit: which fixes ran, and who requested and approved them.", no_args_is_help=False)


@audit_app.command("verify")
def verify_audit(
    file: Annotated[
        Path | None,
        typer.Argument(help="A file that `audit export` wrote; default: the audit in Redis.", show_default=False),
    ] = None,
    tip: Annotated[
        str, typer.Option(metavar="HASH", help="A `hash` from the log's audit lines that the audit must contain.")
    ] = "",
    output: OutputOption = Output.TEXT,
) -> Act:
    """Verify the audit: no record changed, removed, inserted, moved or cut off. Exit 0 if it is intact."""

    def act() -> int:
        from bot.cli.audit import verify

        return verify(file, tip.strip().lower(), as_json=output is Output.JSON)

    return act


@audit_app.command("set-aside")
def set_audit_aside(
    reason: Annotated[
        str, typer.Option(help="What happened to the audit, and who looked into it.", show_default=False)
    ],
    by: Annotated[str, typer.Option(metavar="NAME", help="Your name; your account is recorded in any case.")] = "",
) -> Act:
    """Set a broken audit aside and begin a new one that refers to it: fixes are possible again."""

    def act() -> int:
        from bot.cli.audit import set_aside

        return set_aside(reason, by)

    return act


@audit_app.command("show")
def show_audit(
    number: Annotated[int, typer.Option("-n", min=1, max=1000, help="How many records.")] = 20,
) -> Act:
    """Show the latest records, newest first."""

    def act() -> int:
        from bot.cli.audit import show

        return show(number)

    return act


@audit_app.command("export")
def export_audit(
    since: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only records since this day, such as 2026-11-18.")
    ] = None,
) -> Act:
    """Print the records as JSON lines."""

    def act() -> int:
        from bot.cli.audit import export

        return export(since)

    return act
