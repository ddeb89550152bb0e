"""What the bot shows of incidents, made of values alone: the card in the thread, and what it asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import islice

from bot.address import Address
from bot.incidents.model import Cause, Incident, State, Verdict
from bot.report.known import checked_codes
from bot.slack.incidents import text as said
from bot.slack.kit import escaping, limits
from bot.slack.kit.message import Block, Message, Pressed, actions, button, context, section
from bot.slack.kit.rich_text import Element, text
from bot.slack.kit.rich_text import blocks as rich_blocks
from bot.slack.kit.rich_text import section as rich_section
from handlers.fleet.clusters import FleetMember
from runbooks.library import Library

CHECK, PICK = "incident_check", "incident_pick"
QUIET, SNOOZE = "incident_quiet", "incident_snooze"
ALLOW, REFUSE = "incident_allow_app", "incident_refuse_app"
"""The action ids. `incident_check_0` and so on are numbered."""
_MOST_CAUSES = 4
_MOST_PLACES = 5
_OF_A_CHECK = (Verdict.NOT_CONFIRMED, Verdict.COULD_NOT_CHECK)
"""What a check says of a code; of one that no check asks about it says nothing."""

Link = Callable[[Address], str]
"""The link to a thread, or nothing where it cannot be known."""


def title_of(library: Library, code: str) -> str:
    runbook = library.get(code)
    return runbook.title if runbook else code


def card(incident: Incident, library: Library, link_to: Link, *, home: Incident | None = None) -> Message:
    """The head of an incident. `home`: the one that this one turned out to be."""
    headline = _headline(incident, library, home)
    shown: list[Block] = [section(headline)]
    if not incident.is_closed and incident.causes:
        shown.append(section(_causes(incident, library)))
    if code := _unproved(incident):
        shown.append(section(said.beside_it(title_of(library, code), incident.recognised_by(code), code)))
    if incident.is_closed and incident.closed_ms:
        shown += _over(incident)
    if notes := _notes(incident, library):
        shown.append(context(*notes))
    if incident.user and not incident.is_closed:
        shown += _people(said.REPORTED_BY, (incident.user,))
    if home:
        shown += _places(said.IT_IS_IN, [home.home], link_to)
    elif incident.elsewhere:
        shown += _places(said.ALSO_IN, incident.elsewhere[:_MOST_PLACES], link_to)
    if not incident.is_closed and not incident.silenced:
        pressed = Pressed(incident.id, incident.cluster)
        shown.append(actions(button(said.QUIET_HERE, QUIET, pressed), button(said.SNOOZE, SNOOZE, pressed)))
    return Message(escaping.fits(headline, limits.MESSAGE_TEXT), tuple(shown))


def card_outside(incident: Incident, library: Library, *, home: Incident | None = None) -> Message:
    """The same in a channel that guests or another company read: what it is called, and nothing that proves it."""
    headline = _headline(incident, library, home)
    return Message(escaping.fits(headline, limits.MESSAGE_TEXT), (section(headline),))


def _notes(incident: Incident, library: Library) -> list[str]:
    """How it was recognised, and how often it was reported."""
    guessed = incident.codes[0]
    notes = [said.reports(incident.count)] if incident.count > 1 else []
    if incident.is_closed:
        return notes
    if _is_something_else(incident) and not _unproved(incident):
        unseen = incident.verdict is Verdict.COULD_NOT_CHECK
        reported = said.reported_not_checked if unseen else said.reported_not_confirmed
        return [reported(title_of(library, guessed)), *notes]
    why = incident.recognised_by(_code(incident))
    return [said.recognised_by(why), *notes] if why else notes


def _is_something_else(incident: Incident) -> bool:
    """Whether a check has proved something that nobody had reported."""
    return bool(incident.causes) and incident.verdict in (*_OF_A_CHECK, Verdict.NO_CHECK)


def _over(incident: Incident) -> list[Block]:
    """When it was found over, after how long, and who had it checked."""
    minutes = max(incident.closed_ms - incident.opened_ms, 0) // 60_000
    line = said.over(minutes, datetime.fromtimestamp(incident.closed_ms / 1000, UTC))
    if not incident.closed_by:
        return rich_blocks([rich_section(text(line + said.OVER_BY_ITSELF))])
    who: Element = {"type": "user", "user_id": incident.closed_by}
    return rich_blocks([rich_section(text(line + said.OVER_BY), who)])


def reported_by(users: Sequence[str]) -> Message:
    """One line in the thread for those who reported it as well."""
    blocks = _people(said.REPORTED_TOO, users)
    return Message(said.REPORTED_TOO + ", ".join(f"<@{user}>" for user in users), tuple(blocks))


def found_since(incident: Incident, cause: Cause, library: Library, *, proof: bool = True) -> Message:
    """A new message in its thread for another root cause, which reaches who reported it. Without its proof where
    guests or another company read it."""
    line = said.found_since(title_of(library, cause.code), incident.cluster, cause.said if proof else "")
    return Message(line, (section(line), *(_people(said.REPORTED_BY, (incident.user,)) if incident.user else ())))


def _people(intro: str, users: Sequence[str]) -> list[Block]:
    parts: list[Element] = [text(intro)]
    for number, user in enumerate(users):
        parts += [text(", ")] if number else []
        parts.append({"type": "user", "user_id": user})
    return rich_blocks([rich_section(*parts)])


def _causes(incident: Incident, library: Library) -> str:
    """What was proved. The only cause is not called by its title again where the headline has just done so."""
    only = incident.causes[0] if len(incident.causes) == 1 else None
    named = incident.verdict is Verdict.CONFIRMED or _is_something_else(incident)
    if only and only.said and only.code == _code(incident) and named:
        return said.cause_itself(only.said)
    return "\n".join(_cause(cause, library) for cause in incident.causes[:_MOST_CAUSES])


def _cause(cause: Cause, library: Library) -> str:
    if cause.effect:
        return said.cause_in_effect(cause.effect, cause.said)
    return said.cause(title_of(library, cause.code), cause.said)


def _unproved(incident: Incident) -> str:
    """What was recognised first where checks have spoken of the rest of it, and none could prove this."""
    first = incident.codes[0]
    spoken_of = not incident.is_closed and incident.verdict in (Verdict.CONFIRMED, *_OF_A_CHECK)
    return first if spoken_of and first not in checked_codes() else ""


def pointing(line: str, spot: Address, link_to: Link) -> Message:
    """A line that says where something goes on."""
    return Message(line, (section(line), *_places(said.IT_IS_IN, [spot], link_to)))


def done_by(line: str, user: str) -> Message:
    """A line about what somebody did; everybody sees who."""
    return Message(
        line, (section(line), *rich_blocks([rich_section(text(said.BY), {"type": "user", "user_id": user})]))
    )


def _places(intro: str, spots: Sequence[Address], link_to: Link) -> list[Block]:
    """Links to threads; Slack shows a channel's name to those who may know it."""
    parts: list[Element] = [text(intro)]
    for number, spot in enumerate(spots):
        parts += [text(" · ")] if number else []
        parts.append({"type": "channel", "channel_id": spot.channel})
        if link := link_to(spot):
            parts += [text(" ("), {"type": "link", "url": link, "text": said.THREAD}, text(")")]
    return rich_blocks([rich_section(*parts)])


def _headline(incident: Incident, library: Library, home: Incident | None) -> str:
    cluster, code = incident.cluster, _code(incident)
    title = title_of(library, code)
    if incident.merged_into and home:
        confirmed = incident.verdict is Verdict.CONFIRMED
        return (said.merged if confirmed else said.merged_not_confirmed)(title, cluster)
    if incident.is_closed:
        return said.closed(title, cluster, proved=bool(incident.causes))
    if incident.state is State.CHECKING:
        return said.suspected(title, cluster)
    named = next((cause for cause in incident.causes if cause.code == code and cause.effect), None)
    if incident.verdict is Verdict.CONFIRMED:
        return said.proved(said.CONFIRMED, named.effect, named.do) if named else said.confirmed(title, cluster)
    if incident.causes:
        return said.proved(said.FOUND, named.effect, named.do) if named else said.found_instead(title, cluster)
    if incident.verdict is Verdict.NO_CHECK:
        return said.no_check(title, cluster, code)
    if incident.verdict is Verdict.COULD_NOT_CHECK:
        return said.could_not_check(title, cluster)
    return said.not_confirmed(title, cluster)


def _code(incident: Incident) -> str:
    """What an incident is called: what was proved, and before that what a check can prove of what is suspected."""
    if incident.proved:
        return incident.proved
    if incident.verdict in _OF_A_CHECK and not incident.is_closed:
        return next((code for code in incident.codes if code in checked_codes()), incident.codes[0])
    return incident.codes[0]


def offer(title: str, code: str, sighting: str, clusters: Sequence[str]) -> Message:
    """What it reads like, and a button for each cluster that may be meant."""
    item = len(clusters) == 1
    words_of = (lambda name: said.check_for(name, code)) if item else said.check
    buttons = [
        button(words_of(name), f"{CHECK}_{number}", Pressed(sighting, name, code=code), primary=item)
        for number, name in enumerate(clusters[: limits.ACTIONS_ELEMENTS])
    ]
    line = said.reads_like(title, code)
    line = line if item else f"{line} {said.SEVERAL}"
    return Message(line, (section(line), actions(*buttons)))


def which(
    title: str, code: str, sighting: str, members: Sequence[FleetMember], *, checked: bool, thread_ts: str = ""
) -> Message:
    """What was recognised, and a menu where it names no cluster. Without a check the words are all there is.

    `thread_ts`: where it goes on, for a menu that only one person sees: such a message is in no thread.
    """
    line = said.reads_like(title, code)
    if not checked:
        line = f"{line} {said.NO_CHECK_EXISTS} `/aks runbook {escaping.escape(code)}`"
    names = list(dict.fromkeys(member.name for member in members if len(member.name) <= limits.OPTION_TEXT))
    options = [
        {"text": {"type": "plain_text", "text": name, "emoji": False}, "value": name}
        for name in islice(names, limits.OPTIONS)
    ]
    if not checked or not options:
        return Message(line, (section(line),))
    menu = {
        "type": "static_select",
        "action_id": PICK,
        "placeholder": {"type": "plain_text", "text": said.PICK_PLACEHOLDER, "emoji": False},
        "options": options,
    }
    line = f"{line} {said.NO_CLUSTER}"
    block_id = ":".join((PICK, code, sighting, *filter(None, (thread_ts,))))
    return Message(line, (section(line), {"type": "actions", "block_id": block_id, "elements": [menu]}))


def picked(block_id: str) -> tuple[str, str, str]:
    """The code, the sighting and perhaps the thread that waited in the block's id."""
    _, code, sighting, thread_ts = [*block_id.split(":"), "", "", ""][:4]
    return code, sighting, thread_ts


def ask_about(app: str, app_name: str, turn: str) -> Message:
    """May the bot read the posts of this app?"""
    line = said.allow_posts(app_name)
    pressed = Pressed(turn, app_name, code=app)
    row = actions(button(said.ALLOW, ALLOW, pressed, primary=True), button(said.REFUSE, REFUSE, pressed))
    return Message(line, (section(line), row))
