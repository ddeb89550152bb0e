"""What is answered to a command at once, without a look at Azure: made of values alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from bot.checks.words import DETECTORS
from bot.render.clean import one_line
from bot.report.events import Selection
from bot.slack.inbound import commands, triage_text
from bot.slack.inbound.commands import ParsedCommand
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.fleet_rows import option
from bot.slack.kit.message import PICK, Block, Message, actions, context, header, pages, section, suggestion
from bot.slack.kit.rich_text import Element, bullets, markdown, preformatted, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from bot.slack.kit.sentences import NAME_A_CLUSTER
from bot.triage.explain import Explanation, explain
from handlers.fleet.clusters import FleetMember
from runbooks.library import FIX, FURTHER, MEANING, NOT_THIS, SECTIONS, Library, Runbook
from runbooks.values import Facts

_LONGEST_QUOTE = 1000
NOT_PRESSED = frozenset({commands.MUTE, commands.UNMUTE, commands.WATCH})
"""Words that are typed: what they need is rarely complete where they are misspelt."""
_MOST_OTHERS = 5
_MOST_PAGES = 10


def at_once(asked: ParsedCommand, library: Library) -> Message | None:
    """The answer, or None where Azure has to be asked, also to know whether a word is a cluster's name."""
    if asked.word == commands.FIXES and not asked.rest:
        return only(NAME_A_CLUSTER)
    if asked.word in commands.ASKED_OF_AZURE:
        return None
    if asked.word == commands.HELP:
        return only(sentences.HELP) if asked.rest.lower() == commands.EVERYTHING else helped()
    if asked.word == commands.EXPLAIN:
        return explained(asked.rest, library)
    if asked.word == commands.RUNBOOK:
        return runbook(asked.rest, library)
    return misspelt(asked) if asked.near else None


def helped() -> Message:
    """Three examples; one tap shows the rest."""
    more = suggestion(sentences.MORE, f"{commands.HELP} {commands.EVERYTHING}", 0)
    return Message(sentences.HELP_IN_SHORT, (section(sentences.HELP_IN_SHORT), actions(more)))


def misspelt(asked: ParsedCommand) -> Message:
    """One line, and what may have been meant as buttons."""
    said = sentences.unknown(asked.word, asked.near)
    typed = [f"{word} {asked.rest}".strip() for word in asked.near if word not in NOT_PRESSED]
    fit = [command for command in typed if len(command) <= limits.BUTTON_VALUE]
    buttons = [suggestion(command, command, number) for number, command in enumerate(fit)]
    return Message(said, (section(said), *([actions(*buttons)] if buttons else [])))


def only(said: str) -> Message:
    """One sentence of ours."""
    return Message(escaping.fits(said, limits.MESSAGE_TEXT), (section(said),))


def explained(pasted: str, library: Library) -> Message:
    """What a pasted error speaks of."""
    return recognised(explain(pasted, library)) if pasted.strip() else only(sentences.EXPLAIN_WHAT)


def recognised(explanation: Explanation, *, briefly: bool = False) -> Message:
    """What was recognised; `briefly` where buttons stand above it that should stay in sight on a phone."""
    quote = _quote(explanation)
    if not explanation.matches:
        return _fitted([section(sentences.NOT_RECOGNISED), *quote], sentences.NOT_RECOGNISED)
    best = explanation.matches[0].runbook
    shown: list[Block] = [header(best.title), context(escaping.code(best.code), sentences.RECOGNISED), *quote]
    for name in (MEANING,) if briefly else (MEANING, FIX, NOT_THIS):
        shown += _outline(best, name, explanation.facts)
    shown.append(context(triage_text.whole_runbook(best.code)) if briefly else section(sentences.TO_PROVE_IT))
    shown += _others(explanation)
    return _fitted(shown, escaping.plain(f"{best.title}. {sentences.RECOGNISED}"))


def runbook(name: str, library: Library) -> Message:
    """One runbook by its code, those that have these words, or the list of all."""
    wanted = one_line(name).strip("` ").lower()
    if not wanted:
        return _fitted([header(sentences.RUNBOOKS), *_catalogue(library)], sentences.RUNBOOKS)
    pages = [wanted] if wanted in library else library.index.about(wanted)
    if not pages:
        return only(sentences.no_runbook(wanted, library.index.nearest(wanted)))
    return _page(library[pages[0]]) if len(pages) == 1 else _found(wanted, pages, library)


def _page(found: Runbook) -> Message:
    shown: list[Block] = [header(found.title), context(escaping.code(found.code))]
    return _fitted([*shown, *outline(found)], escaping.plain(found.title))


def _found(wanted: str, pages: list[str], library: Library) -> Message:
    said = sentences.runbooks_about(wanted, len(pages))
    shown: list[Block] = [section(said), *_catalogue({code: library[code] for code in pages[:_MOST_PAGES]})]
    if len(pages) > _MOST_PAGES:
        shown.append(context(sentences.more(len(pages) - _MOST_PAGES)))
    return _fitted(shown, said)


def _catalogue(runbooks: Mapping[str, Runbook]) -> list[Block]:
    """Plain lines: as rich text, this many would weigh three times as much and be cut."""
    sections: list[str] = []
    for name, runbook in runbooks.items():
        line = f"{escaping.code(name)} {escaping.plain(runbook.title, 150)}"
        if sections and len(sections[-1]) + len(line) < limits.SECTION_TEXT:
            sections[-1] += f"\n{line}"
        else:
            sections.append(line)
    return [section(item) for item in sections]


def outline(found: Runbook) -> list[Block]:
    """A runbook with `<name>` for every fact."""
    sections = [block for name in SECTIONS for block in _outline(found, name)]
    return [*sections, *_under(FURTHER, markdown(found.further, found.further))] if found.links else sections


def picker(
    members: Sequence[FleetMember], area: str | None, *, said: str = sentences.PICK, thread_ts: str = ""
) -> Message:
    """A menu of the fleet. The area and the thread of the answer wait in the block's id until somebody has chosen."""
    if not members:
        return only(sentences.NO_FLEET)
    options = list(islice(filter(None, (option(member, members) for member in members)), limits.OPTIONS))
    menu = {
        "type": "static_select",
        "action_id": PICK,
        "placeholder": {"type": "plain_text", "text": sentences.PICK_PLACEHOLDER, "emoji": False},
        "options": options,
    }
    shown: list[Block] = [section(said)]
    if options:
        shown.append({"type": "actions", "block_id": f"{PICK}:{area or ''}:{thread_ts}", "elements": [menu]})
    if len(options) < len(members):
        shown.append(context(sentences.too_many_to_pick(len(members) - len(options))))
    return Message(said, tuple(shown))


def waiting(scope: Selection) -> str:
    """What waits in the block's id, until a cluster is picked: `network`, `network+detectors`."""
    return f"{scope.area or ''}{'+' + DETECTORS if scope.detectors else ''}"


def picked(block_id: str) -> tuple[Selection, str]:
    """What waited there: what to ask, and the thread in which to answer."""
    _, asked, thread_ts = [*block_id.split(":"), "", ""][:3]
    area, _, more = asked.partition("+")
    return Selection(area or None, detectors=more == DETECTORS), thread_ts


def _quote(explanation: Explanation) -> list[Block]:
    if not explanation.error:
        return []
    quote = escaping.cut(one_line(str(explanation.error)), _LONGEST_QUOTE)
    return rich_blocks([rich_section(text(sentences.ERROR_INSIDE, bold=True), text("\n")), preformatted(quote)])


def _others(explanation: Explanation) -> list[Block]:
    others = explanation.matches[1 : 1 + _MOST_OTHERS]
    if not others:
        return []
    listed = [[text(other.runbook.code, as_code=True), text(f" {one_line(other.runbook.title)}")] for other in others]
    return rich_blocks([rich_section(text(sentences.ALSO_SPOKEN_OF, bold=True), text("\n")), bullets(listed)])


def _outline(found: Runbook, name: str, facts: Facts | None = None) -> list[Block]:
    return _under(name, markdown(found.outline(name, facts), found.sections[name]))


def _under(name: str, elements: Sequence[Element]) -> list[Block]:
    return rich_blocks([rich_section(text(name, bold=True), text("\n")), *elements])


def _fitted(blocks: Collection[Block], said: str) -> Message:
    """One message; what finds no room is said to be cut."""
    (message, *_), fitted = pages(blocks, said, most=1)
    return message if fitted else Message(message.text, (*message.blocks, context(escaping.CUT.strip())))
