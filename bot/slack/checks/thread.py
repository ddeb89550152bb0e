"""The thread under an answer: each cause with its proof and what to do, what follows from it, what stayed dark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bot.checks.offered_fix import Fix
from bot.render.clean import one_line
from bot.render.detectors import TITLE as DETECTORS
from bot.render.detectors import detector_lines
from bot.render.links import NO_LINKS, Links
from bot.render.packet.offered import is_offered
from bot.render.proof import own_proof
from bot.render.subject import short
from bot.render.verdict import not_checked, not_looked_at
from bot.report.events import Report
from bot.report.scope import Scope, scope_of
from bot.slack.fixes.offer_view import FixBlocks
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import STEPS, SUPPORT, Block, Pressed, actions, button, divider, section
from bot.slack.kit.quoting import QuotedErrors, brief
from bot.slack.kit.rich_text import Element, bullets, markdown, quote, size, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.model import Check, Finding, Outcome, Ranked, Severity, State, Unavailable
from runbooks.head import BadRunbook
from runbooks.library import FIX, Library, Runbook

MOST_CAUSES = 6
"""In full; more than that at once is nobody's to read at night. The rest is named."""
MOST_NAMED = 20
MOST_PROOF_LINES = 12
LONGEST_LINE = 400
LONGEST_QUOTE = 1500
LONGEST_FIX = 3500

_STEP = re.compile(r"[•✓✗?–] (?=\d)")
_MARKS = {Severity.ERROR: ":x:", Severity.WARNING: ":warning:", Severity.INFO: ":information_source:"}


class Thread:
    """The blocks of one report's thread. `cut` says afterwards whether anything was left out."""

    def __init__(
        self, report: Report, library: Library, pressed: Pressed, fixes: Iterable[Fix] = (), links: Links = NO_LINKS
    ) -> None:
        self._links = links
        self._diagnosis, self._library, self._pressed = report.diagnosis, library, pressed
        self._asked = report.detectors
        self._fixes = FixBlocks(fixes)
        self.cut = False
        self._packet_offered = False
        """Once: it is about the whole cluster."""
        self._told = QuotedErrors()
        self._roots = [ranked.finding for ranked in self._diagnosis.findings if ranked.root]

    def blocks(self) -> Iterator[Block]:
        begun = False
        for part in self._parts():
            shown = list(part)
            if begun and shown:
                yield divider()
            yield from shown
            begun = begun or bool(shown)

    def _parts(self) -> Iterator[Iterable[Block]]:
        """In the order in which they are read: what was told above is not told again."""
        effects = [ranked for ranked in self._diagnosis.findings if not ranked.root]
        for number, finding in enumerate(self._roots[:MOST_CAUSES]):
            yield self._cause(finding, number)
        yield self._list(sentences.OTHER_CAUSES, [self._named(root) for root in self._roots[MOST_CAUSES:]])
        yield self._list(sentences.CONSEQUENCES, [self._effect(effect) for effect in effects])
        yield self._list(DETECTORS, self._detectors())
        yield self._dark()
        yield self._ruled_out()
        yield self._beyond()

    def _cause(self, finding: Finding, number: int) -> Iterator[Block]:
        runbook = self._library.get(finding.code)
        about = sentences.subject(finding.code, short(finding.subject))
        yield section(f"{_MARKS[finding.severity]} *{escaping.plain(self._named_title(finding), 300)}*\n{about}")
        yield from self._elsewhere(finding)
        yield from rich_blocks([self._title(sentences.PROOF), *self._proof(finding)])
        yield from rich_blocks([self._title(sentences.WHAT_TO_DO), *self._fix(finding, runbook)])
        yield from self._fixes.reasons(finding.code, finding.subject)
        buttons = self._fixes.buttons(finding.code, finding.subject, number)
        if runbook:
            pressed = Pressed(self._pressed.request, self._pressed.cluster, self._pressed.scope, finding.code)
            buttons.append(button(sentences.STEPS, f"{STEPS}_{number}", pressed))
        if not self._packet_offered and is_offered(finding, runbook):
            self._packet_offered = True
            pressed = Pressed(self._pressed.request, self._pressed.cluster)
            buttons.append(button(sentences.SUPPORT, SUPPORT, pressed))
        if buttons:
            yield actions(*buttons)
        yield from self._in_full(finding)

    def _elsewhere(self, finding: Finding) -> Iterator[Block]:
        """Where to look on: the portal, the activity log, what the policy names."""
        shown: list[Element] = []
        for title, url in self._links.of(finding, self._diagnosis.target.id):
            if len(url) <= limits.URL:
                shown += [text(" · ")] if shown else []
                shown.append({"type": "link", "url": url, "text": title})
        if shown:
            yield from rich_blocks([rich_section(*shown)])

    def _proof(self, finding: Finding) -> Iterator[Element]:
        """Lines as bullets; the steps of a ledger bring their own marks, a bullet before them would hide that."""
        proof = [_spaced(item) for item in finding.because[:MOST_PROOF_LINES]]
        for line in proof:
            self._told.note(line)
        shown = [brief(line) for line in proof]
        for is_step, lines in groupby(shown, key=lambda line: bool(_STEP.match(line))):
            if is_step:
                yield rich_section(*(text(f"{line}\n") for line in lines))
            else:
                yield bullets([[text(line)] for line in lines])
        rest = self._rest(len(finding.because) - MOST_PROOF_LINES)
        if rest:
            yield bullets(rest)

    def _in_full(self, finding: Finding) -> Iterator[Block]:
        """What the proof told in part. It comes after what to do: nobody has to scroll past it to get there."""
        whole = (_spaced(item) for item in finding.because[:MOST_PROOF_LINES])
        long = [self._line(line, LONGEST_QUOTE) for line in whole if brief(line) != line]
        if long:
            yield from rich_blocks([self._title(sentences.IN_FULL), *map(quote, long)])

    def _fix(self, finding: Finding, runbook: Runbook | None) -> list[Element]:
        if runbook is None:
            return [rich_section(text(sentences.NO_RUNBOOK))]
        elements = runbook_section(runbook, FIX, finding)
        room = LONGEST_FIX
        kept: list[Element] = []
        for element in elements:
            if size(element) > min(room, limits.RICH_TEXT):
                self.cut = True
                kept.append(rich_section(text(escaping.CUT.strip(), dim=True)))
                break
            kept.append(element)
            room -= size(element)
        return kept

    def _detectors(self) -> list[list[Element]]:
        """What Azure's own say, beside the findings."""
        shown = []
        for line in detector_lines(self._asked, self._diagnosis):
            head = " ".join(filter(None, (line.mark, line.name)))
            shown.append([*([text(self._line(f"{head} "), bold=True)] if head else []), text(self._line(line.says))])
        return shown

    def _named(self, finding: Finding) -> list[Element]:
        return [
            text(self._line(f"{short(finding.subject)}:"), bold=True),
            text(self._line(f" {self._named_title(finding)} ")),
            text(finding.code, as_code=True),
        ]

    def _named_title(self, finding: Finding) -> str:
        runbook = self._library.get(finding.code)
        return runbook.title if runbook else finding.code

    def _effect(self, ranked: Ranked) -> list[Element]:
        return [*self._named(ranked.finding), *self._because_of(ranked), text(f"\n{self._own_words(ranked.finding)}")]

    def _because_of(self, ranked: Ranked) -> list[Element]:
        """Where there is one cause, everything comes from it."""
        if len(self._roots) == 1:
            return []
        named = dict.fromkeys(code for code, _ in ranked.explained_by)
        roots = [code for code in named if code in {root.code for root in self._roots}]
        causes = ((text(" "), text(self._line(code), as_code=True)) for code in roots or named)
        return [text(f" {sentences.BECAUSE_OF}"), *(element for pair in causes for element in pair)]

    def _own_words(self, finding: Finding) -> str:
        """What it says for itself; an error that stands above is named, not repeated."""
        proof = _spaced(own_proof(finding))
        if self._told.knows(proof):
            return sentences.SAME_ERROR
        self._told.note(proof)
        self.cut = self.cut or brief(proof) != proof
        return brief(proof)

    def _unseen(self) -> Iterator[list[Element]]:
        """One reason often hides several things: it is told once."""
        groups: dict[tuple[str, str, str | None], list[Unavailable]] = {}
        for unavailable in self._diagnosis.unseen:
            groups.setdefault((unavailable.why, unavailable.detail, unavailable.grant), []).append(unavailable)
        for (why, detail, permission), hidden in groups.items():
            names = self._line(", ".join(unavailable.wanted for unavailable in hidden))
            yield [
                text(names, bold=True),
                text(self._line(f": {why}, {detail}")),
                *([text(f" → {sentences.GRANT} "), text(self._line(permission), as_code=True)] if permission else []),
            ]

    def _crashed(self) -> Iterator[list[Element]]:
        for check in self._diagnosis.checks:
            if check.outcome is Outcome.CRASHED:
                yield [
                    text(self._line(_name(check)), bold=True),
                    text(self._line(f": {check.why} ({sentences.CRASHED})")),
                ]

    def _in_part(self) -> Iterator[list[Element]]:
        for check in self._diagnosis.checks:
            if check.outcome is Outcome.INCONCLUSIVE and not check.unseen:
                yield [text(self._line(_name(check)), bold=True), text(self._line(f": {check.why}"))]

    def _open(self) -> Iterator[Block]:
        unsure = (Outcome.INCONCLUSIVE, Outcome.CRASHED)
        names = [_name(check) for check in self._diagnosis.checks if check.outcome in unsure]
        if names:
            yield from rich_blocks(
                [rich_section(text(self._line(sentences.stayed_open(names), limits.RICH_TEXT // 2)))]
            )

    def _dark(self) -> Iterator[Block]:
        yield from self._list(sentences.UNSEEN, [*self._unseen(), *self._crashed(), *self._in_part()])
        yield from self._open()

    def _ruled_out(self) -> list[Block]:
        if self._diagnosis.state is not State.CLEAR:
            return []
        return self._row(
            sentences.RULED_OUT, [_name(check) for check in self._diagnosis.checks if check.outcome is Outcome.CLEAR]
        )

    def _beyond(self) -> Iterator[Block]:
        """Of an answer that found nothing, what it says nothing about."""
        if self._diagnosis.state is State.CLEAR or not_checked(self._diagnosis):
            for title, names in beyond(scope_of(self._diagnosis, self._library)):
                yield from self._row(title, names)

    def _row(self, title: str, names: Sequence[str]) -> list[Block]:
        if not names:
            return []
        return rich_blocks(
            [self._title(title), rich_section(text(self._line(", ".join(names), limits.RICH_TEXT // 2)))]
        )

    def _list(self, title: str, items: list[list[Element]]) -> list[Block]:
        if not items:
            return []
        shown = items[:MOST_NAMED] + self._rest(len(items) - MOST_NAMED)
        return rich_blocks([self._title(title), bullets(shown)])

    def _rest(self, number: int) -> list[list[Element]]:
        if number <= 0:
            return []
        self.cut = True
        return [[text(sentences.more(number), dim=True)]]

    def _title(self, title: str) -> Element:
        return rich_section(text(title, bold=True), text("\n"))

    def _line(self, said: str, longest: int = LONGEST_LINE) -> str:
        whole = _spaced(said)
        self.cut = self.cut or len(whole) > longest
        return escaping.cut(whole, longest)


def beyond(scope: Scope) -> list[tuple[str, Sequence[str]]]:
    """What an answer says nothing about; of a narrowed one that is first of all what it left out."""
    left_out = not_looked_at(scope)
    return [(sentences.NOT_LOOKED_AT, left_out)] if scope.narrowed else [(sentences.NO_CHECK_FOR, scope.cannot_ask)]


def runbook_section(runbook: Runbook, name: str, finding: Finding) -> list[Element]:
    """A section of the runbook with this finding's facts."""
    source = runbook.sections[name]
    try:
        return markdown(runbook.render(name, finding.facts), source)
    except BadRunbook as bad:
        # A finding is worth showing whatever is wrong with its runbook.
        note = rich_section(text(sentences.runbook_unfilled(f"{bad.file.name}, line {bad.line}"), dim=True))
        return [*markdown(runbook.outline(name), source), note]


def _spaced(said: str) -> str:
    """On one line; a space at an end holds two pieces apart."""
    line = one_line(said)
    before = " " if said[:1] == " " else ""
    return f"{before}{line}{' ' if said[-1:] == ' ' and line else ''}"


def _name(check: Check) -> str:
    return check.codes[0] if len(check.codes) == 1 else check.id
