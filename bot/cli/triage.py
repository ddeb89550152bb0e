"""`aksbot triage`: what the bot would recognise in an incident channel. Messages in, cluster and codes out."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from bot import settings
from bot.checks.clients import azure_access, clients, kube_access
from bot.checks.library import load
from bot.render.clean import width, wrapped
from bot.render.line import Line
from bot.render.terminal import show_lines
from bot.settings import Settings
from bot.triage.clusters import FleetNames
from bot.triage.decide import Certainty
from bot.triage.reading import read_message
from bot.triage.recognise import Recogniser, Recognition
from handlers.clients.errors import ArmError
from handlers.clients.recording.file import DEEPEST, is_deeper
from handlers.clients.redact import redact_text
from handlers.fleet.clusters import fleet
from handlers.problem import Exit, Problem
from runbooks.library import Library

_SAID = {
    Certainty.SURE: "sure: the bot would check and answer",
    Certainty.LIKELY: "likely: the bot would offer a button",
    Certainty.QUIET: "quiet",
}


def triage_file(file: Path, clusters: str | None) -> int:
    """Print each line of a JSONL file with `cluster` and `codes` added."""
    rows = list(_rows(file))
    chosen = settings.load()
    recogniser, names = Recogniser(load(chosen)), _names(clusters, chosen)
    for row in rows:
        text = row.get("text")
        found = recogniser.recognise(redact_text(text if isinstance(text, str) else read_message(row)), names)
        told = {**row, "cluster": found.cluster, "codes": list(found.codes)}
        sys.stdout.write(json.dumps(told, ensure_ascii=False) + "\n")
    return Exit.CLEAR


def triage_text(text: str, clusters: str | None, *, as_json: bool) -> int:
    """Recognise one message; 0 if the bot would answer, 2 if it would stay quiet."""
    chosen = settings.load()
    library = load(chosen)
    # Like the bot: redact first, then recognise.
    found = Recogniser(library).recognise(redact_text(text), _names(clusters, chosen))
    if as_json:
        sys.stdout.write(json.dumps(_as_dict(found), indent=2) + "\n")
    else:
        show_lines(_lines(found, library, width()))
    return Exit.CLEAR if found.codes else Exit.INCONCLUSIVE


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    what = f"cannot read {file}"
    try:
        lines = sys.stdin.buffer.read().splitlines() if str(file) == "-" else file.read_bytes().splitlines()
    except OSError as unreadable:
        do = "name a file with one JSON object per line, or - for standard input"
        raise Problem(what, unreadable.strerror or str(unreadable), do, code=Exit.USAGE) from unreadable
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as bad:
            do = "each line is one JSON object with a `text`"
            raise Problem(f"{what}, line {number}", f"it is not JSON: {bad}", do, code=Exit.USAGE) from bad
        if is_deeper(row, DEEPEST):
            why, do = f"it is nested more than {DEEPEST} levels deep", "give the message as Slack sends it"
            raise Problem(f"{what}, line {number}", why, do, code=Exit.USAGE)
        if not isinstance(row, dict):
            do = 'write {"text": "…"}'
            raise Problem(f"{what}, line {number}", "it is not a JSON object", do, code=Exit.USAGE)
        yield row


def _names(clusters: str | None, chosen: Settings) -> FleetNames:
    if clusters is not None:
        return FleetNames(tuple(filter(None, (part.strip() for part in clusters.split(",")))))
    return asyncio.run(_fleet_of_azure(chosen))


async def _fleet_of_azure(chosen: Settings) -> FleetNames:
    async with clients(azure_access(chosen), kube_access(chosen)) as opened:
        try:
            async with asyncio.timeout(chosen.check_timeout_s):
                return FleetNames.of(await fleet(opened.arm))
        except (ArmError, TimeoutError) as error:
            why = error.detail if isinstance(error, ArmError) else f"no answer within {chosen.check_timeout_s:g} s"
            raise Problem("cannot list the clusters", why, "name them: --clusters prod-weu,staging-neu") from error


def _as_dict(found: Recognition) -> dict[str, Any]:
    return {
        "certainty": found.certainty.value,
        "cluster": found.cluster,
        "cluster_by": found.cluster_by,
        "choices": list(found.choices),
        "codes": list(found.codes),
        "why": {suspect.code: list(suspect.why) for suspect in found.suspects},
        "because": found.because,
    }


def _lines(found: Recognition, library: Library, columns: int) -> Iterator[Line]:
    yield Line.of((_SAID[found.certainty], "heading"), (f": {found.because}" if found.because else "", "dim"))
    if found.cluster:
        yield Line.of((f"cluster {found.cluster}", ""), (f"  ({found.cluster_by})", "dim"))
    elif found.choices:
        yield Line.of((f"one of the clusters {', '.join(found.choices)}", ""))
    for suspect in found.suspects:
        yield Line.of((library[suspect.code].title, "title"), (f"  {suspect.code}", "dim"))
        for text in suspect.why:
            yield from (Line.of((line, "dim")) for line in wrapped(text, indent="  ", hang="    ", columns=columns))
