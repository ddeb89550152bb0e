"""One offered fix, for a terminal and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from bot.render.clean import one_line, wrapped
from bot.render.line import Line
from handlers.remedy.in_words import in_words
from handlers.remedy.plan import Offer, Plan


def plan_lines(offer: Offer, columns: int) -> Iterator[Line]:
    """The plan, or the reasons against it. Commands stand on their own lines, so they can be copied."""
    title = offer.plan.title if offer.plan else f"No {offer.remedy}"
    yield Line.of((title, "title"), (f"  {offer.remedy}", "dim"))
    yield from _text(f"{offer.code} on {offer.subject}", columns)
    if offer.plan:
        yield from _plan(offer.plan, columns)
        return
    yield from _heading("Why there is no plan")
    for forbidden in offer.forbidden:
        yield from _text(forbidden.because, columns, bullet="- ")
        yield from _text(f"do: {forbidden.do}", columns, bullet="  ")


def _plan(plan: Plan, columns: int) -> Iterator[Line]:
    if plan.effect:
        yield Line()
        yield from _text(f"{plan.effect}.", columns)
    yield from _heading("Steps")
    for number, step in enumerate(plan.steps, 1):
        yield from _text(step.says, columns, bullet=f"{number}. ")
        yield from _text(step.request, columns, bullet="   ")
        yield Line.of((f"     {one_line(step.command)}", ""))
    yield from _heading("Only if this is still so")
    for name, value in plan.before.items():
        yield from _text(f"{name}: {in_words(value)}", columns, bullet="- ")
    yield from _heading("What could go wrong")
    for risk in plan.could_go_wrong:
        yield from _text(risk, columns, bullet="- ")
    for warning in plan.warnings:
        yield from _text(f"careful: {warning}", columns, bullet="! ")
    yield from _heading("Undo")
    yield from _text(plan.undo, columns)
    yield Line()
    took = f"risk {plan.risk}, about {spoken(plan.eta)}, given up after {spoken(plan.limit)}"
    yield from _text(took, columns)
    gone = f"fixed when {plan.verify.code} is gone from {plan.verify.subject}"
    yield from _text(gone, columns)


def as_dict(offer: Offer) -> dict[str, Any]:
    """For programs: everything that an approval would cover."""
    plan = offer.plan
    return {
        "code": offer.code,
        "subject": offer.subject,
        "remedy": offer.remedy,
        "forbidden": [{"because": forbidden.because, "do": forbidden.do} for forbidden in offer.forbidden],
        "plan": {"digest": plan.digest, **plan.as_dict()} if plan else None,
    }


def spoken(length: timedelta) -> str:
    minutes = max(1, round(length.total_seconds() / 60))
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02} min" if hours and rest else f"{hours} h" if hours else f"{minutes} min"


def _heading(text: str) -> Iterator[Line]:
    yield Line()
    yield Line.of((text, "heading"))


def _text(text: str, columns: int, *, bullet: str = "") -> Iterator[Line]:
    indent = "  " + bullet
    for line in wrapped(text, indent=indent, hang=" " * len(indent), columns=columns):
        yield Line.of((line, ""))
