"""The view of App Home, pure: the fleet with its problems first, open approvals, recent checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Protocol

from bot.checks.store.recent import RecentCheck
from bot.render.clean import one_line
from bot.render.verdict import in_words, only
from bot.report.events import Selection
from bot.slack.fixes.lists.view import OpenApproval
from bot.slack.home import text as home_text
from bot.slack.kit import escaping, limits, sentences
from bot.slack.kit.fleet_rows import option, state_of, value_of
from bot.slack.kit.links import thread_link
from bot.slack.kit.message import Block, Message, Pressed, actions, button, context, divider, header, section
from bot.slack.kit.rich_text import Element, bullets, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.fleet.clusters import FleetMember
from handlers.problem import Problem

REFRESH, CHECK, PICK = "home_refresh", "home_check", "home_pick"
"""The action ids. `CHECK` is numbered: `home_check_0`."""
MOST_NOT_WELL = 20
MOST_WELL = 30
MOST_RECENT = 10
MOST_APPROVALS = 10
_LONGEST = 300


class Approvals(Protocol):
    """Where open approvals come from."""

    async def open_for(self, team: str, user: str) -> Sequence[OpenApproval] | Message:
        """The open approvals that this person may see, most urgent first; or why they cannot be listed."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Everything that the page shows to one person: what they may see, and no more."""

    fleet: tuple[FleetMember, ...] | Problem
    taken_at: datetime
    recent: Sequence[RecentCheck] | None
    """None where the memory is away."""
    approvals: Sequence[OpenApproval] | Message | None = ()
    """None where the memory is away; a message where nobody can tell what this person may see."""
    address: str = ""
    """Of the workspace, for links to threads; without it there are none."""
    note: str = ""
    """What a press on this page has begun."""


def loading(direct: str) -> dict[str, Any]:
    """The page while it is loading."""
    return _view([header(home_text.FLEET), section(home_text.LOADING)], direct)


def refused(message: Message, direct: str) -> dict[str, Any]:
    """The page for somebody who may see nothing, with the reason; or when it could not be made."""
    return _view([*(message.blocks or (section(message.text),)), _refresh()], direct)


def page(shown: Shown, direct: str) -> dict[str, Any]:
    """The page. `direct` is the person's conversation with the bot, which its buttons need."""
    note = [section(shown.note), divider()] if shown.note else []
    parts = [*note, *_fleet(shown), divider(), *_approvals(shown.approvals), divider(), *_recent(shown)]
    return _view([*parts, context(home_text.HINT)], direct)


def _view(blocks: list[Block], direct: str) -> dict[str, Any]:
    return {"type": "home", "private_metadata": direct, "blocks": blocks[: limits.BLOCKS_IN_VIEW]}


def _refresh(*more: Block) -> Block:
    return actions(button(home_text.REFRESH, REFRESH, Pressed("", "")), *more)


def _fleet(shown: Shown) -> list[Block]:
    title = header(home_text.FLEET)
    if isinstance(shown.fleet, Problem):
        return [title, *_problem(shown.fleet), _refresh()]
    if not shown.fleet:
        return [title, section(home_text.NO_FLEET), _refresh()]
    members = sorted(shown.fleet, key=lambda member: (state_of(member).rank, member.name.lower(), member.id.lower()))
    counted = Counter(state_of(member).text for member in members)
    ordered = [(state, counted[state]) for state in dict.fromkeys(state_of(member).text for member in members)]
    not_well = [member for member in members if not state_of(member).well]
    return [
        title,
        section(home_text.summary(len(members), ordered)),
        *(_not_well(member, number, members) for number, member in enumerate(not_well[:MOST_NOT_WELL])),
        *_more(home_text.more_in_trouble, len(not_well) - MOST_NOT_WELL),
        *_well([member for member in members if state_of(member).well]),
        *_menu(members),
        *_taken_at(shown.taken_at),
    ]


def _not_well(member: FleetMember, number: int, members: Sequence[FleetMember]) -> Block:
    state = state_of(member)
    sentence = home_text.state_line(state.light, member.name, state.text, f"{member.location} · {member.group}")
    check = button(
        home_text.CHECK, f"{CHECK}_{number}", Pressed("", value_of(member, members)), primary=state.rank == 0
    )
    return section(sentence) | {"accessory": check}


def _well(members: Sequence[FleetMember]) -> list[Block]:
    if not members:
        return []
    rows = [
        [
            text(one_line(member.name), as_code=True),
            text(f" · {escaping.cut(one_line(f'{member.location} · {member.group}'), _LONGEST)}"),
        ]
        for member in members[:MOST_WELL]
    ]
    if len(members) > MOST_WELL:
        rows.append([text(home_text.more_well(len(members) - MOST_WELL), dim=True)])
    title = rich_section(text(home_text.well(len(members)), bold=True), text("\n"))
    return rich_blocks([title, bullets(rows)])


def _menu(members: Sequence[FleetMember]) -> list[Block]:
    """Any cluster can be checked from here, as far as a menu can list them; how many it cannot is said."""
    options = list(islice(filter(None, (option(member, members) for member in members)), limits.OPTIONS))
    left = _more(sentences.too_many_to_pick, len(members) - len(options))
    if not options:
        return [_refresh(), *left]
    placeholder = {"type": "plain_text", "text": sentences.PICK_PLACEHOLDER, "emoji": False}
    menu = {"type": "static_select", "action_id": PICK, "placeholder": placeholder, "options": options}
    return [_refresh(menu), *left]


def _taken_at(moment: datetime) -> list[Block]:
    return [context(home_text.taken_at(f"{moment:%H:%M} UTC"))]


def _approvals(open_ones: Sequence[OpenApproval] | Message | None) -> list[Block]:
    title = header(home_text.APPROVALS)
    if open_ones is None:
        return [title, section(home_text.APPROVALS_AWAY)]
    if isinstance(open_ones, Message):
        return [title, section(home_text.APPROVALS_NOT_TOLD), *(open_ones.blocks or [section(open_ones.text)])]
    if not open_ones:
        return [title, section(home_text.NO_APPROVALS)]
    rows = [_approval(approval) for approval in open_ones[:MOST_APPROVALS]]
    more = _more(home_text.more_well, len(open_ones) - MOST_APPROVALS)
    return [title, *rich_blocks([bullets(rows)]), *more]


def _approval(approval: OpenApproval) -> list[Element]:
    row = [
        text(one_line(approval.cluster), as_code=True),
        text(f" {escaping.cut(one_line(approval.title), _LONGEST)} · "),
        _person(approval.requested_by),
        text(home_text.UNTIL),
        _moment(approval.expires_at),
    ]
    return [*row, text(" · "), _link(approval.link)] if approval.link else row


def _recent(shown: Shown) -> list[Block]:
    title = header(home_text.RECENT)
    if shown.recent is None:
        return [title, section(home_text.NO_MEMORY)]
    if not shown.recent:
        return [title, section(home_text.NO_RECENT)]
    listed = _listed(shown.recent)
    rows = [_checked(check, shown.address) for check in listed]
    return [title, *rich_blocks([bullets(rows)]), *_more(home_text.more_recent, len(shown.recent) - len(listed))]


def _listed(recent: Sequence[RecentCheck]) -> list[RecentCheck]:
    """The latest checks; after a check of a part, also the last one of the whole cluster."""
    listed = list(recent[:MOST_RECENT])
    in_part = {check.cluster for check in listed} - {check.cluster for check in listed if check.of_the_whole}
    for older in recent[MOST_RECENT:]:
        if older.of_the_whole and older.cluster in in_part:
            listed.append(older)
            in_part.remove(older.cluster)
    return listed


def _checked(check: RecentCheck, address: str) -> list[Element]:
    cause = f": {escaping.cut(one_line(check.cause), _LONGEST)}" if check.cause else ""
    narrowed = only(Selection(check.area, check.code))
    link = thread_link(check, address)
    where = _link(link) if link else _channel(check.channel) if check.ts else text(home_text.ONLY_YOU, dim=True)
    return [
        text(one_line(check.cluster), as_code=True),
        text(" "),
        text(in_words(check.verdict) or home_text.NO_ANSWER, bold=True),
        text(f" {narrowed}{cause} · " if narrowed else f"{cause} · "),
        _person(check.user),
        text(" · "),
        _moment(check.at),
        text(" · "),
        where,
    ]


def _person(user: str) -> Element:
    """A mention in Home notifies nobody: only one person sees it."""
    return {"type": "user", "user_id": user}


def _channel(channel: str) -> Element:
    return {"type": "channel", "channel_id": channel}


def _moment(moment: datetime) -> Element:
    """In the reader's own time zone."""
    return {
        "type": "date",
        "timestamp": int(moment.timestamp()),
        "format": "{date_short_pretty} {time}",
        "fallback": f"{moment:%Y-%m-%d %H:%M} UTC",
    }


def _link(url: str) -> Element:
    return {"type": "link", "url": url, "text": home_text.HERE}


def _more(sentence: Any, number: int) -> list[Block]:
    return [context(sentence(number))] if number > 0 else []


def _problem(problem: Problem) -> list[Block]:
    parts = ((sentences.WHY, problem.why), (sentences.DO, problem.do))
    what = rich_section(text(escaping.cut(escaping.sentence(problem.what), _LONGEST * 2), bold=True), text("\n"))
    rows = [
        rich_section(text(f"{name}: ", bold=True), text(escaping.cut(one_line(sentence), _LONGEST * 2)), text("\n"))
        for name, sentence in parts
    ]
    return rich_blocks([what, *rows])
