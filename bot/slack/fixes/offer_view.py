"""What stands under a cause: the button that opens a plan, or the reasons why there is none. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from bot.checks.offered_fix import Fix
from bot.render.clean import one_line
from bot.render.subject import short
from bot.slack.fixes import text as fixes_text
from bot.slack.fixes.buttons import FIX, PressedFix
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import Block, actions
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.remedy.plan import Forbidden, Offer, Plan, Risk

MOST_REASONS = 6
MOST_NAMED = 3
_LONGEST = 400


class FixBlocks:
    """The fixes of one answer. A plan for several causes has one button, under the first of them."""

    def __init__(self, fixes: Iterable[Fix]) -> None:
        self._fixes = tuple(fixes)
        self._shown: set[str] = set()

    def buttons(self, code: str, subject: str, number: int) -> list[Block]:
        """The buttons under this cause."""
        made = []
        for place, fix in enumerate(self._of(code, subject)):
            if fix.offer.plan and fix.has_button and fix.proposal not in self._shown:
                self._shown.add(fix.proposal)
                made.append(_button(fix.proposal, fix.offer.plan, f"{FIX}_{number}_{place}"))
        return made

    def reasons(self, code: str, subject: str) -> list[Block]:
        """Why there is no button, or why only some have one."""
        return _why_not_all(tuple(self._of(code, subject)))

    def _of(self, code: str, subject: str) -> Iterator[Fix]:
        return (fix for fix in self._fixes if fix.is_about(code, subject))


def _button(proposal: str, plan: Plan, action: str) -> Block:
    """It carries which plan it is for; pressing it changes nothing yet."""
    pressed = PressedFix(proposal, plan.digest, fixes_text.name(plan))
    return {
        "type": "button",
        "action_id": action,
        "text": {
            "type": "plain_text",
            "text": escaping.cut(one_line(fixes_text.fix_button(plan)), limits.BUTTON_TEXT),
            "emoji": False,
        },
        "value": pressed.dump(),
        "style": "danger" if plan.risk is Risk.HIGH else "primary",
    }


def why_none(reasons: Iterable[Forbidden]) -> list[Block]:
    return _why(dict.fromkeys(reasons, ()), fixes_text.NO_BUTTON)


def _why_not_all(fixes: Sequence[Fix]) -> list[Block]:
    """Of several fixes each reason says whose it is; one that several have is told once."""
    of: dict[Forbidden, tuple[str, ...]] = {}
    for fix in fixes:
        for reason in () if fix.has_button else fix.reasons:
            of[reason] = (*of.get(reason, ()), _name(fix.offer)) if len(fixes) > 1 else ()
    title = fixes_text.OTHERS_NO_BUTTON if any(fix.has_button for fix in fixes) else fixes_text.NO_BUTTON
    return _why(of, title)


def _why(told: Mapping[Forbidden, tuple[str, ...]], title: str) -> list[Block]:
    if not told:
        return []
    rows = [_row(forbidden, names) for forbidden, names in islice(told.items(), MOST_REASONS)]
    if len(told) > MOST_REASONS:
        rows.append([text(sentences.more(len(told) - MOST_REASONS), dim=True)])
    return rich_blocks([rich_section(text(title, bold=True), text("\n")), bullets(rows)])


def _row(forbidden: Forbidden, names: Sequence[str]) -> list[Element]:
    because, do = (escaping.cut(one_line(said), _LONGEST) for said in (forbidden.because, forbidden.do))
    whose = list(dict.fromkeys(names))
    more = [sentences.more(len(whose) - MOST_NAMED)] if len(whose) > MOST_NAMED else []
    named = escaping.cut(one_line(", ".join([*whose[:MOST_NAMED], *more])), _LONGEST)
    return [*([text(f"{named}: ")] if named else []), text(because), text(f"\n→ {do}", dim=True)]


def _name(offer: Offer) -> str:
    return offer.plan.title if offer.plan else f"{offer.remedy} on {short(offer.subject)}"


def under(fixes: Iterable[Fix]) -> list[Block]:
    """All of them together, where no answer stands above."""
    all_of_them = tuple(fixes)
    shown = FixBlocks(all_of_them)
    made: list[Block] = []
    for number, fix in enumerate(all_of_them):
        buttons = shown.buttons(fix.offer.code, fix.offer.subject, number)
        made += [actions(*buttons)] if buttons else []
    return made + _why_not_all(all_of_them)
