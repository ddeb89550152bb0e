"""`aksbot support`: a support packet in a file, also while Slack is down. Changes nothing."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from bot import settings
from bot.audit.store import Audit
from bot.checks.clients import azure_access, kube_access
from bot.checks.library import load
from bot.checks.support.packets import Packet, SupportPackets, done_in
from bot.cli.check import must_be_writable
from bot.render.clean import one_line, width, wrapped
from bot.render.line import Line
from bot.render.packet.archive import Archive
from bot.render.terminal import show_lines
from bot.settings import Settings
from bot.store.connect import beside
from handlers.problem import Exit


def make_packet(cluster: str, file: Path | None, *, as_json: bool) -> int:
    """Write the packet and say what is in it."""
    if file:
        must_be_writable(file, "write")
    if not as_json:
        sys.stderr.write(f"collecting the support packet of {one_line(cluster)} …\n")
    packet = asyncio.run(_made(settings.load(), cluster)).archive
    target = file or Path(packet.name)
    must_be_writable(target, "write")
    _write(target, packet.packed())
    _show(packet, target, as_json=as_json)
    return Exit.CLEAR


async def _made(chosen: Settings, cluster: str) -> Packet:
    packets = SupportPackets(azure_access(chosen), kube_access(chosen), load(chosen), chosen.check_timeout_s)
    url = chosen.redis_url.get_secret_value() if chosen.redis_url else None
    # Without a store of the bot on this machine there is nothing to open, and none is made for this.
    keeps = url is not None or (chosen.data_dir / "valkey").exists()
    async with beside(url, chosen.data_dir) if keeps else nullcontext() as connection:
        done = done_in(Audit(connection.redis)) if connection else None
        return await packets.made(cluster, datetime.now(UTC), done)


def _write(file: Path, content: bytes) -> None:
    """Readable for its owner alone: it holds no secrets, but all other details of a cluster."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(content)


def _show(packet: Archive, file: Path, *, as_json: bool) -> None:
    if as_json:
        contents = [{"name": name, "holds": holds} for name, holds in packet.contents]
        sys.stdout.write(json.dumps({"file": str(file), "contents": contents}, indent=2) + "\n")
        return
    longest = max(len(name) for name, _ in packet.contents)
    rows = [
        line
        for name, holds in packet.contents
        for line in wrapped(holds, indent=f"  {name:<{longest}}  ", hang=" " * (longest + 4), columns=width())
    ]
    said = (
        f"Secrets are redacted, names and ids are not: read it before you send it. {packet.contents[0][0]} comes first."
    )
    show_lines(
        [
            Line.of(("Support packet: ", "title"), (str(file), "")),
            *(Line.of((row, "")) for row in rows),
            Line(),
            *(Line.of((row, "")) for row in wrapped(said, columns=width())),
        ]
    )
