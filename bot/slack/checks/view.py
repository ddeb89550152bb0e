"""What the bot shows in Slack, made of values alone: the head message, its progress, and the thread with the answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from bot.checks.reporter import Answer
from bot.render.clean import one_line
from bot.render.detectors import reported_besides
from bot.render.headline import Headline, beside_name, first_lines, headline, pieces
from bot.render.links import NO_LINKS, Links
from bot.render.pictures.of_answer import pictures_of
from bot.render.subject import short
from bot.render.verdict import answers, clear_in_part, label, not_checked, summary, what_would_help
from bot.report.events import Selection
from bot.report.progress import Progress
from bot.report.running import operation_runs
from bot.report.scope import Scope, scope_of
from bot.slack.checks.report_file import whole
from bot.slack.checks.thread import Thread, beyond
from bot.slack.fixes.offer_view import FixBlocks
from bot.slack.inbound.commands import CHECK
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.message import (
    CHECK_AGAIN,
    CHECK_ALL,
    DETECTORS,
    SHOW_ALL,
    STEPS,
    WATCH,
    WRONG,
    AnswerMessages,
    Block,
    Message,
    Pressed,
    actions,
    button,
    check_buttons,
    context,
    header,
    pages,
    section,
    suggestion,
)
from bot.slack.kit.naming import for_people
from bot.slack.kit.rich_text import Element, bullets, lines, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.evidence.azure import MANAGED_CLUSTER
from handlers.fleet.names import NoSuchCluster
from handlers.model import Check, Diagnosis, Finding, Outcome, Severity, State
from handlers.problem import Problem
from runbooks.library import Library

MOST_THREAD_MESSAGES = 6
_LIGHTS = {
    State.FOUND: ":red_circle:",
    State.CLEAR: ":large_green_circle:",
    State.INCONCLUSIVE: ":large_yellow_circle:",
}
_NOT_ALL_LOOKED_AT = ":white_circle:"
_FOUND = {
    Severity.ERROR: ":red_circle:",
    Severity.WARNING: ":large_orange_circle:",
    Severity.INFO: ":large_blue_circle:",
}
"""The worst that was found comes first."""
_ENDS = (Outcome.FOUND, Outcome.CRASHED, Outcome.INCONCLUSIVE, Outcome.CLEAR, Outcome.NOT_APPLICABLE)
_LONGEST_WHY = 600
_MOST_CAUSES_IN_HEAD = 5
_MOST_SUBJECTS = 5
_MOST_UNSEEN_IN_HEAD = 5


def started(cluster: str, running_for: timedelta = timedelta(), *, durable: bool = True) -> Message:
    """The head message before anything is known."""
    said = sentences.joined(cluster, running_for) if running_for else sentences.starting(cluster)
    notes = () if durable else (context(sentences.NOT_DURABLE),)
    return Message(said, (section(said), *notes))


def progress(now: Progress, *, plan: bool = True) -> Message:
    """How far it is: as a plan of tasks, or in plain words where a workspace has no plans."""
    said = sentences.progress(now.cluster, now.evidence, now.questions)
    shown = [_plan(now)] if plan else [section(said)]
    if now.found:
        shown.append(context(sentences.found_so_far(now.found)))
    if now.unseen:
        shown.append(context(sentences.unseen_so_far(now.unseen)))
    return Message(escaping.fits(said, limits.MESSAGE_TEXT), tuple(shown))


def answer(
    given: Answer, pressed: Pressed, library: Library, *, in_thread: bool = False, links: Links = NO_LINKS
) -> AnswerMessages:
    """The whole answer. `in_thread`: its head stands in a thread itself, so the rest follows right below."""
    diagnosis = given.report.diagnosis
    thread = Thread(given.report, library, pressed, given.fixes, links)
    messages, fitted = pages(thread.blocks(), _lines(diagnosis, library), most=MOST_THREAD_MESSAGES)
    file = None if fitted and not thread.cut else whole(given.report, library)
    if file:
        note = context(sentences.whole_in_file(file.name))
        messages[-1] = Message(messages[-1].text, (*messages[-1].blocks, note))
    pictures = pictures_of(diagnosis, library)
    return AnswerMessages(_head(given, pressed, library, in_thread=in_thread), tuple(messages), file, pictures)


def outside(given: Answer, library: Library) -> Message:
    """What everybody may read in a channel with guests or another company: cluster, state and titles, and no button."""
    said, shown = state_and_titles(given.report.diagnosis, library)
    return Message(said, (*shown, context(sentences.OUTSIDE)))


def state_and_titles(diagnosis: Diagnosis, library: Library) -> tuple[str, list[Block]]:
    """All that is said openly outside, in a line and in blocks."""
    said = sentences.state_alone(diagnosis.target.name, label(diagnosis)[0])
    roots = [ranked.finding for ranked in diagnosis.findings if ranked.root]
    titles = list(dict.fromkeys(_title(root.code, library) for root in roots))[:_MOST_CAUSES_IN_HEAD]
    listed = rich_blocks([bullets([[text(title, bold=True)] for title in titles])]) if titles else []
    shown = [section(f"{light_of(diagnosis)} {said}"), *listed]
    return escaping.fits(" · ".join([said, *map(escaping.plain, titles)]), limits.MESSAGE_TEXT), shown


def failed_outside(cluster: str) -> Message:
    """The same where there is no answer: why may name what only some may know."""
    said = sentences.not_checked(cluster)
    return Message(said, (section(said), context(sentences.OUTSIDE)))


def for_one(said: AnswerMessages) -> AnswerMessages:
    """The answer for whoever asked, where the others have read only the state."""
    head = Message(said.head.text, (*said.head.blocks, context(sentences.ONLY_YOU)))
    return AnswerMessages(head, said.thread)


def calling(said: AnswerMessages, names: Sequence[str]) -> AnswerMessages:
    """The answer, of which the first message in the thread calls who asked."""
    if not said.thread:
        return said
    first, *rest = said.thread
    called = Message(first.text, (*rich_blocks([for_people(names)]), *first.blocks))
    return replace(said, thread=(called, *rest))


def checks(given: Answer, library: Library) -> AnswerMessages:
    """*Show all checks*: how each ended, and why."""
    checks = given.report.diagnosis.checks
    report = given.report
    cost = sentences.cost(report.took_ms, report.arm_calls, report.kube_calls)
    as_of = sentences.as_of(report.as_of)
    about = context(escaping.code(report.diagnosis.target.name), as_of, cost)
    listed = rich_blocks([element for outcome in _ENDS for element in _ended(checks, outcome)])
    listed += rich_blocks(_not_asked(scope_of(given.report.diagnosis, library)))
    messages, fitted = pages([header(sentences.ALL_CHECKS), about, *listed], sentences.ALL_CHECKS, most=2)
    fitted = fitted and all(len(one_line(check.why)) <= _LONGEST_WHY for check in checks)
    file = None if fitted else whole(given.report, library)
    if file:
        messages[-1] = Message(messages[-1].text, (*messages[-1].blocks, context(sentences.whole_in_file(file.name))))
    return AnswerMessages(messages[0], tuple(messages[1:]), file)


def _ended(checks: Sequence[Check], outcome: Outcome) -> list[Element]:
    """The checks that ended so."""
    those = sorted((check for check in checks if check.outcome is outcome), key=lambda check: check.id)
    if not those:
        return []
    title = rich_section(text(f"{sentences.ENDED[outcome.value]} ({len(those)})", bold=True), text("\n"))
    why = lines([check.why for check in those], _LONGEST_WHY)
    named = [[text(one_line(check.id), as_code=True), text(" "), *said] for check, said in zip(those, why, strict=True)]
    return [title, bullets(named)]


def _not_asked(scope: Scope) -> list[Element]:
    """What none of these checks is about."""
    return [
        rich_section(
            text(f"{title} ({len(names)})", bold=True),
            text(escaping.cut(f"\n{', '.join(names)}", limits.RICH_TEXT // 2)),
        )
        for title, names in beyond(scope)
        if names
    ]


def failed(problem: Problem, pressed: Pressed, *, gave_up: bool = False) -> Message:
    """There is no answer: what could not be done, why, and what to do."""
    intro = (section(sentences.GAVE_UP),) if gave_up else ()
    longest = limits.RICH_TEXT // 4
    body = rich_blocks(
        [
            rich_section(text(escaping.cut(escaping.sentence(problem.what), longest), bold=True), text("\n")),
            rich_section(
                text(f"{sentences.WHY}: ", bold=True), text(escaping.cut(one_line(problem.why), longest)), text("\n")
            ),
            rich_section(text(f"{sentences.DO}: ", bold=True), text(escaping.cut(one_line(problem.do), longest))),
        ]
    )
    again = actions(button(sentences.CHECK_AGAIN, CHECK_AGAIN, pressed))
    said = f"{sentences.GAVE_UP} {sentences.problem(problem)}" if gave_up else sentences.problem(problem)
    return Message(escaping.fits(said, limits.MESSAGE_TEXT).strip() or sentences.NO_WORDS, (*intro, *body, again))


def no_such_cluster(missing: NoSuchCluster, near: Sequence[str], scope: Selection) -> Message:
    """One line, and the nearest names as buttons. `near`: those that this person may look at."""
    said = sentences.no_such_cluster(missing.name, missing.why, near=bool(near))
    choose = suggestion(sentences.CHOOSE, CHECK, len(near))
    return Message(said, (section(said), actions(*check_buttons(near, scope), choose)))


def _head(given: Answer, pressed: Pressed, library: Library, *, in_thread: bool) -> Message:
    diagnosis = given.report.diagnosis
    said = first_lines(diagnosis, library)
    shown = [*(_found(diagnosis, said, library) if said else _nothing_found(diagnosis, library))]
    besides = reported_besides(given.report.detectors, diagnosis)
    if besides:
        shown.append(section(sentences.reported_besides(besides)))
    notes = [sentences.age(given.age)] if given.age else []
    if not given.durable:
        notes.append(sentences.NOT_DURABLE)
    if notes:
        shown.append(context(*notes))
    # In a thread the cause follows right below, with these buttons under it.
    repairs = [] if in_thread else _repairs(given, pressed, library)
    shown.append(
        actions(
            *repairs,
            button(sentences.CHECK_AGAIN, CHECK_AGAIN, pressed),
            *_check_all(pressed),
            button(sentences.SHOW_ALL, SHOW_ALL, pressed),
            *_detectors(pressed, diagnosis),
            button(sentences.WATCH_END if operation_runs(diagnosis) else sentences.WATCH_THIS, WATCH, pressed),
            button(sentences.WRONG, WRONG, pressed),
        )
    )
    return Message(escaping.fits(_lines(diagnosis, library), limits.MESSAGE_TEXT), tuple(shown))


def _lines(diagnosis: Diagnosis, library: Library) -> str:
    """What a lock screen shows."""
    said = first_lines(diagnosis, library)
    return sentences.first_lines(said.effect, said.do) if said else _verdict(diagnosis, library)


def _found(diagnosis: Diagnosis, said: Headline, library: Library) -> Iterator[Block]:
    """What does not work and why, what to do, what else was found; then the verdict in numbers."""
    do = f"\n{sentences.named(said.do)}" if said.do else ""
    yield section(f"{light_of(diagnosis)} *{sentences.named(said.effect)}*{do}")
    roots = [ranked.finding for ranked in diagnosis.findings if ranked.root]
    yield from _other_causes(roots[1:], diagnosis.target.name, library)
    numbers = sentences.state(label(diagnosis)[0], summary(diagnosis, library))
    yield context(numbers, *_unseen(diagnosis))


def _nothing_found(diagnosis: Diagnosis, library: Library) -> Iterator[Block]:
    yield section(f"{light_of(diagnosis)} {_verdict(diagnosis, library)}")
    for said in answers(diagnosis):
        yield section(escaping.plain(said, limits.SECTION_TEXT))
    if diagnosis.state is State.INCONCLUSIVE and not not_checked(diagnosis):
        helps = what_would_help(diagnosis)
        yield section(sentences.NOT_PROVEN + (f"\n{sentences.named(helps)}." if helps else ""))
    if unseen := _unseen(diagnosis):
        yield context(*unseen)


def _unseen(diagnosis: Diagnosis) -> list[str]:
    unseen = tuple(dict.fromkeys(unavailable.wanted for unavailable in diagnosis.unseen))
    return [sentences.unseen_so_far(unseen[:_MOST_UNSEEN_IN_HEAD])] if unseen else []


def _repairs(given: Answer, pressed: Pressed, library: Library) -> list[Block]:
    """What may be done about the first cause: its fixes, and its steps."""
    root = next((ranked.finding for ranked in given.report.diagnosis.findings if ranked.root), None)
    if root is None:
        return []
    fixes = FixBlocks(given.fixes).buttons(root.code, root.subject, 0)
    steps = button(sentences.STEPS, f"{STEPS}_0", replace(pressed, code=root.code))
    return [*fixes, steps] if root.code in library else fixes


def _detectors(pressed: Pressed, diagnosis: Diagnosis) -> list[Block]:
    """Azure's own detectors are run on request alone; other kinds of cluster have none."""
    if pressed.scope.detectors or not diagnosis.target.id.is_a(MANAGED_CLUSTER):
        return []
    scope = replace(pressed.scope, detectors=True)
    return [button(sentences.DETECTORS, DETECTORS, replace(pressed, scope=scope))]


def _check_all(pressed: Pressed) -> list[Block]:
    """From a narrowed check it is one tap to the whole."""
    if pressed.scope.whole:
        return []
    return [button(sentences.CHECK_ALL, CHECK_ALL, Pressed(pressed.request, pressed.cluster))]


def light_of(diagnosis: Diagnosis) -> str:
    if not_checked(diagnosis) or clear_in_part(diagnosis):
        return _NOT_ALL_LOOKED_AT
    if diagnosis.state is not State.FOUND:
        return _LIGHTS[diagnosis.state]
    roots = {ranked.finding.severity for ranked in diagnosis.findings if ranked.root}
    return next((light for severity, light in _FOUND.items() if severity in roots), _LIGHTS[State.FOUND])


def _other_causes(roots: list[Finding], cluster: str, library: Library) -> list[Block]:
    """Each in its own line, with what to do; of several of a kind, what they are about."""
    by_code: dict[str, list[Finding]] = {}
    for root in roots:
        by_code.setdefault(root.code, []).append(root)
    items = [_cause(those, cluster, library) for those in list(by_code.values())[:_MOST_CAUSES_IN_HEAD]]
    if len(by_code) > _MOST_CAUSES_IN_HEAD:
        items.append([text(sentences.more(len(by_code) - _MOST_CAUSES_IN_HEAD), dim=True)])
    title = rich_section(text(sentences.ALSO, bold=True), text("\n"))
    return rich_blocks([title, bullets(items)]) if items else []


def _cause(those: list[Finding], cluster: str, library: Library) -> list[Element]:
    if len(those) == 1:
        said = headline(those[0], library, cluster)
        do = [text("\n"), *_named(said.do)] if said.do else []
        return [*_named(beside_name(said.effect, cluster)), *do]
    names = [short(finding.subject) for finding in those[:_MOST_SUBJECTS]]
    rest = [sentences.more(len(those) - _MOST_SUBJECTS)] if len(those) > _MOST_SUBJECTS else []
    title = f"{_title(those[0].code, library)} × {len(those)}"
    return [text(title), text("\n" + escaping.cut(", ".join([*names, *rest]), 300))]


def _named(line: str) -> list[Element]:
    return [text(piece, as_code=is_name) for piece, is_name in pieces(line)]


def _title(code: str, library: Library) -> str:
    runbook = library.get(code)
    return escaping.cut(one_line(runbook.title if runbook else code), 300)


def _verdict(diagnosis: Diagnosis, library: Library) -> str:
    return sentences.verdict(diagnosis.target.name, label(diagnosis)[0], summary(diagnosis, library))


def first_line(diagnosis: Diagnosis, library: Library) -> str:
    """For an answer that stands elsewhere."""
    said = first_lines(diagnosis, library)
    if said:
        return f"*{sentences.named(said.effect)}*"
    return sentences.verdict(diagnosis.target.name, label(diagnosis)[0], summary(diagnosis))


def _plan(now: Progress) -> Block:
    """Three tasks: more would flicker by faster than anybody reads."""
    collecting = now.known and now.evidence[0] < now.evidence[1]
    judging = now.known and now.questions[0] < now.questions[1]
    tasks = [
        _task("find", sentences.FIND, "complete" if now.known else "in_progress"),
        _task("collect", sentences.COLLECT, _status(now.known, collecting), now.evidence),
        _task("judge", sentences.JUDGE, _status(now.known, judging), now.questions),
    ]
    title = escaping.cut(sentences.PLAN_TITLE.format(cluster=one_line(now.cluster)), limits.TASK_TITLE)
    return {"type": "plan", "title": title, "tasks": tasks}


def _status(known: bool, runs: bool) -> str:
    if not known:
        return "pending"
    return "in_progress" if runs else "complete"


def _task(name: str, title: str, status: str, done: tuple[int, int] | None = None) -> Block:
    task: Block = {"type": "task_card", "task_id": name, "title": title, "status": status}
    if done and done[1]:
        said = {"type": "rich_text", "elements": [rich_section(text(sentences.of(done)))]}
        task["output" if status == "complete" else "details"] = said
    return task
