"""What the bot shows in Slack, made of values alone: the head message, its progress, and the thread with the answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from bot.jobs.progress import Progress
from bot.jobs.teller import Answer
from bot.render.clean import one_line
from bot.render.verdict import label, not_checked, summary
from bot.slack import limits, words
from bot.slack.message import (
    CHECK_AGAIN,
    SHOW_ALL,
    WRONG,
    Attachment,
    Block,
    Message,
    Pressed,
    actions,
    button,
    context,
    header,
    pages,
    section,
)
from bot.slack.rich import blocks as rich_blocks
from bot.slack.rich import bullets, lines, text
from bot.slack.rich import section as rich_section
from bot.slack.thread import Thread
from bot.slack.whole import all_checks, whole
from handlers.model import Diagnosis, State
from handlers.problem import Problem
from runbooks.library import Library

MOST_THREAD_MESSAGES = 6
_LIGHTS = {
    State.FOUND: ":red_circle:",
    State.CLEAR: ":large_green_circle:",
    State.INCONCLUSIVE: ":large_yellow_circle:",
}
_MOST_ROOTS_IN_HEAD = 5


@dataclass(frozen=True, slots=True)
class AnswerMessages:
    """An answer: what the head becomes, what goes into its thread, and the file where something had to be cut."""

    head: Message
    thread: tuple[Message, ...]
    file: Attachment | None = None


def started(cluster: str, running_for: timedelta = timedelta(), *, durable: bool = True) -> Message:
    """The head message before anything is known."""
    said = words.joined(cluster, running_for) if running_for else words.starting(cluster)
    notes = () if durable else (context(words.NOT_DURABLE),)
    return Message(said, (section(said), *notes))


def progress(now: Progress, *, plan: bool = True) -> Message:
    """How far it is: as a plan of tasks, or in plain words where a workspace has no plans."""
    said = words.progress(now.cluster, now.evidence, now.questions)
    shown = [_plan(now)] if plan else [section(said)]
    if now.found:
        shown.append(context(words.found_so_far(now.found)))
    if now.unseen:
        shown.append(context(words.unseen_so_far(now.unseen)))
    return Message(words.fits(said, limits.MESSAGE_TEXT), tuple(shown))


def answer(given: Answer, pressed: Pressed, library: Library) -> AnswerMessages:
    """The whole answer."""
    diagnosis = given.report.diagnosis
    thread = Thread(given.report, library, pressed)
    messages, fitted = pages(thread.blocks(), _verdict(diagnosis), most=MOST_THREAD_MESSAGES)
    file = None if fitted and not thread.cut else whole(given.report, library)
    if file:
        note = context(words.whole_in_file(file.name))
        messages[-1] = Message(messages[-1].text, (*messages[-1].blocks, note))
    return AnswerMessages(_head(given, pressed, library), tuple(messages), file)


def checks(given: Answer, library: Library) -> AnswerMessages:
    """*Show all checks*: how each ended, and why."""
    said = all_checks(given.report)
    title = header(words.ALL_CHECKS)
    listed = rich_blocks([bullets(lines(said, 300))]) if said else []
    messages, fitted = pages([title, *listed], words.ALL_CHECKS, most=2)
    fitted = fitted and all(len(one_line(line)) <= 300 for line in said)
    file = None if fitted else whole(given.report, library)
    if file:
        messages[-1] = Message(messages[-1].text, (*messages[-1].blocks, context(words.whole_in_file(file.name))))
    return AnswerMessages(messages[0], tuple(messages[1:]), file)


def failed(problem: Problem, pressed: Pressed, *, gave_up: bool = False) -> Message:
    """There is no answer: what could not be done, why, and what to do."""
    intro = (section(words.GAVE_UP),) if gave_up else ()
    longest = limits.RICH_TEXT // 4
    body = rich_blocks(
        [
            rich_section(text(words.cut(one_line(problem.what), longest), bold=True), text("\n")),
            rich_section(
                text(f"{words.WHY}: ", bold=True), text(words.cut(one_line(problem.why), longest)), text("\n")
            ),
            rich_section(text(f"{words.DO}: ", bold=True), text(words.cut(one_line(problem.do), longest))),
        ]
    )
    again = actions(button(words.CHECK_AGAIN, CHECK_AGAIN, pressed))
    said = f"{words.GAVE_UP} {words.problem(problem)}" if gave_up else words.problem(problem)
    return Message(words.fits(said, limits.MESSAGE_TEXT).strip() or words.NO_WORDS, (*intro, *body, again))


def _head(given: Answer, pressed: Pressed, library: Library) -> Message:
    diagnosis = given.report.diagnosis
    said = _verdict(diagnosis)
    light = ":white_circle:" if not_checked(diagnosis) else _LIGHTS[diagnosis.state]
    shown: list[Block] = [section(f"{light} {said}"), *_roots(diagnosis, library)]
    if diagnosis.state is State.INCONCLUSIVE and not not_checked(diagnosis):
        shown.append(section(words.NOT_PROVEN))
    report = given.report
    notes = [words.cost(report.took_ms, report.arm_calls, report.kube_calls)]
    if given.age:
        notes.append(words.age(given.age))
    if not given.durable:
        notes.append(words.NOT_DURABLE)
    shown.append(context(*notes))
    shown.append(
        actions(
            button(words.CHECK_AGAIN, CHECK_AGAIN, pressed),
            button(words.SHOW_ALL, SHOW_ALL, pressed),
            button(words.WRONG, WRONG, pressed),
        )
    )
    return Message(words.fits(said, limits.MESSAGE_TEXT), tuple(shown))


def _roots(diagnosis: Diagnosis, library: Library) -> list[Block]:
    roots = [ranked.finding.code for ranked in diagnosis.findings if ranked.root]
    codes = list(dict.fromkeys(roots))
    if not codes:
        return []
    titles = []
    for code in codes[:_MOST_ROOTS_IN_HEAD]:
        runbook = library.get(code)
        title = words.cut(one_line(runbook.title if runbook else code), 300)
        number = roots.count(code)
        titles.append([text(f"{title} × {number}" if number > 1 else title)])
    if len(codes) > _MOST_ROOTS_IN_HEAD:
        titles.append([text(words.more(len(codes) - _MOST_ROOTS_IN_HEAD), dim=True)])
    return rich_blocks([bullets(titles)])


def _verdict(diagnosis: Diagnosis) -> str:
    return words.verdict(diagnosis.target.name, label(diagnosis)[0], summary(diagnosis))


def _plan(now: Progress) -> Block:
    """Three tasks: more would flicker by faster than anybody reads."""
    collecting = now.known and now.evidence[0] < now.evidence[1]
    judging = now.known and now.questions[0] < now.questions[1]
    tasks = [
        _task("find", words.FIND, "complete" if now.known else "in_progress"),
        _task("collect", words.COLLECT, _status(now.known, collecting), now.evidence),
        _task("judge", words.JUDGE, _status(now.known, judging), now.questions),
    ]
    title = words.cut(words.PLAN_TITLE.format(cluster=one_line(now.cluster)), limits.TASK_TITLE)
    return {"type": "plan", "title": title, "tasks": tasks}


def _status(known: bool, runs: bool) -> str:
    if not known:
        return "pending"
    return "in_progress" if runs else "complete"


def _task(name: str, title: str, status: str, done: tuple[int, int] | None = None) -> Block:
    task: Block = {"type": "task_card", "task_id": name, "title": title, "status": status}
    if done and done[1]:
        said = {"type": "rich_text", "elements": [rich_section(text(words.of(done)))]}
        task["output" if status == "complete" else "details"] = said
    return task
