"""`aksbot explain`: takes a pasted error, prints its innermost layer and the runbook."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from bot import settings
from bot.checks.library import load
from bot.render.clean import width, wrapped
from bot.render.line import Line
from bot.render.markdown import paragraphs
from bot.render.terminal import show_lines
from bot.report.known import checked_codes
from bot.triage.explain import Explanation, explain
from handlers.problem import Exit, Problem
from runbooks.library import CHECK, FIX, MEANING, NOT_THIS

_LONGEST_QUOTE = 500
_TO_PROVE_IT = "To prove it and have <…> filled in: aksbot check <cluster>"
_NO_CHECK = "No check looks for this yet: the text is all there is to go by. The commands above prove it."


def explain_text(text: str | None, *, as_json: bool) -> int:
    """Explain one text; 0 if it is recognised, 2 if not."""
    if text is None:
        text = _standard_input()
    if not text.strip():
        raise Problem(
            "cannot explain nothing",
            "the text is empty",
            "paste the error after `aksbot explain`, in quotes, or pipe it in",
            code=Exit.USAGE,
        )
    explanation = explain(text, load(settings.load()))
    if as_json:
        sys.stdout.write(json.dumps(_as_dict(explanation), indent=2) + "\n")
    else:
        show_lines(_lines(explanation, width()))
    return Exit.CLEAR if explanation.matches else Exit.INCONCLUSIVE


def _standard_input() -> str:
    if sys.stdin.isatty():
        sys.stderr.write("paste the error, then press Ctrl-D on a line of its own\n")
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")


def _lines(explanation: Explanation, columns: int) -> Iterator[Line]:
    if not explanation.matches:
        yield Line.of(("Not recognised", "inconclusive"), (": no runbook knows this text.", ""))
    else:
        best = explanation.matches[0]
        yield Line.of((best.runbook.title, "title"), (f"  {best.runbook.code}", "dim"))
        yield Line.of(("recognised, not verified", "unsure"), (": nothing was looked up in Azure", "dim"))
    if explanation.error:
        quote = str(explanation.error)
        cut = quote if len(quote) <= _LONGEST_QUOTE else quote[: _LONGEST_QUOTE - 1] + "…"
        yield Line()
        yield Line.of(("The error inside", "heading"))
        for text in wrapped(cut, indent="  ", columns=columns):
            yield Line.of((text, ""))
    if explanation.matches:
        yield from _runbook(explanation, columns)
    else:
        yield Line()
        text = "`aksbot check <cluster>` looks at the cluster itself; `aksbot runbooks list` shows what is known."
        yield from (Line.of((line, "")) for line in wrapped(text, columns=columns))


def _runbook(explanation: Explanation, columns: int) -> Iterator[Line]:
    best, others = explanation.matches[0], explanation.matches[1:]
    for title, section in (
        ("What it means", MEANING),
        ("Check it yourself", CHECK),
        ("What to do", FIX),
        ("Not this, if", NOT_THIS),
    ):
        yield Line()
        yield Line.of((title, "heading"))
        yield from paragraphs(best.runbook.outline(section, explanation.facts), columns, indent="  ")
    yield Line()
    text = _TO_PROVE_IT if best.runbook.code in checked_codes() else _NO_CHECK
    yield from (Line.of((line, "")) for line in wrapped(text, columns=columns))
    if others:
        yield Line()
        yield Line.of(("Also spoken of", "heading"))
    for other in others:
        text = f"{other.runbook.code}: {other.runbook.title}"
        yield from (Line.of((line, "")) for line in wrapped(text, indent="  ", hang="    ", columns=columns))


def _as_dict(explanation: Explanation) -> dict[str, Any]:
    error = explanation.error
    return {
        "recognised": bool(explanation.matches),
        "verified": False,
        "error": {"code": error.code, "message": error.message} if error else None,
        "matches": [
            {
                "code": match.runbook.code,
                "title": match.runbook.title,
                "by": match.by,
                "check": match.runbook.code in checked_codes(),
            }
            for match in explanation.matches
        ],
        "facts": explanation.facts,
    }
