"""Runs a command script: lines of `kubectl get …` and `echo …`, with `;` and `&&` between them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.kube.answers import Refusal
from sandbox.kube.command.get import Asker, get
from sandbox.kube.command.options import Wrong

_BETWEEN = re.compile(r"(\|\||&&|;|\n)")
_MARK = "\x00"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The output of a command; stdout and stderr are combined, as in the real service."""

    exit_code: int
    logs: str


def run(script: str, ask: Asker) -> Outcome:
    """Run a script like a shell: `&&` continues only after success, and the last exit code counts."""
    logs, code = "", 0
    for link, words in _commands(script):
        if (link == "&&" and code) or (link == "||" and not code):
            continue
        text, code = _one(words, ask)
        logs += text
    return Outcome(code, logs)


def _commands(script: str) -> Iterator[tuple[str, list[str]]]:
    """Each command's arguments, with the separator before it."""
    link = ";"
    for piece in _pieces(script):
        if piece in ("&&", "||", ";", "\n"):
            link = piece
        elif piece.strip():
            yield link, shlex.split(piece, comments=True)
            link = ";"


def _pieces(script: str) -> list[str]:
    """Split at separators outside quotes."""
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match.group(0))
        return f"{_MARK}{len(kept) - 1}{_MARK}"

    hidden = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", hide, script.replace("\\\n", " "))
    show = re.compile(f"{_MARK}(\\d+){_MARK}")
    return [show.sub(lambda match: kept[int(match.group(1))], piece) for piece in _BETWEEN.split(hidden)]


def _one(words: list[str], ask: Asker) -> tuple[str, int]:
    if "|" in words:
        return "/bin/sh: the sandbox understands no pipes\n", 2
    match words:
        case ["echo", *rest]:
            return " ".join(rest) + "\n", 0
        case ["true"]:
            return "", 0
        case ["kubectl", "get", *rest]:
            return _get(rest, ask)
        case ["kubectl", verb, *_]:
            return f'error: the sandbox understands "kubectl get", not "kubectl {verb}"\n', 1
        case [name, *_]:
            return f"/bin/sh: {name}: not found\n", 127
    return "", 0


def _get(arguments: list[str], ask: Asker) -> tuple[str, int]:
    try:
        return get(arguments, ask)
    except Wrong as wrong:
        return f"error: {wrong}\n", 1
    except Refusal as refusal:
        return f"{told(refusal)}\n", 1


def told(refusal: Refusal) -> str:
    """An API error in kubectl's wording."""
    body = refusal.answer.body
    if not isinstance(body, dict):
        return f"Error from server: {str(body).strip()}"
    if body.get("code") == 401:
        return "error: You must be logged in to the server (Unauthorized)"
    reason = f" ({body['reason']})" if body.get("reason") else ""
    return f"Error from server{reason}: {body['message']}"
