"""User actions in a workspace and what users see, for tests, drills and the page.

Anything that Slack's client does not allow raises `NotInSlack`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sandbox.slack import downloads, events, interactions, payloads, posting, state
from sandbox.slack.blocks.ids import with_ids
from sandbox.slack.errors import NotInSlack
from sandbox.slack.message import Message, StoredFile
from sandbox.slack.site import Site
from sandbox.slack.typed import compose, rich_text
from sandbox.slack.views import View
from sandbox.slack.workspace import Channel, Person, Workspace, make_id

Body = dict[str, Any]
T = TypeVar("T")


class Control:
    """One workspace from its users' perspective. People and channels are given by name or id."""

    def __init__(self, site: Site, team: Workspace) -> None:
        self.site, self.team = site, team

    # -- reading ----------------------------------------------------------------------------------------------

    def messages(self, channel: str) -> list[Message]:
        """All non-ephemeral messages of a channel, including threads, oldest first."""
        return [message for message in self._channel(channel).messages if message.only_for is None]

    def thread(self, channel: str, ts: str) -> list[Message]:
        return self._channel(channel).thread(ts)

    def ephemerals(self, user: str, channel: str | None = None) -> list[Message]:
        """This person's ephemeral messages."""
        who = self.team.person(user).id
        where = self.team.channels if channel is None else [self._channel(channel)]
        return [message for place in where for message in place.messages if message.only_for == who]

    def modal(self, user: str) -> View | None:
        """This person's topmost open modal."""
        return self.site.views.top(self.team.id, self.team.person(user).id)

    def home(self, user: str) -> View | None:
        return self.site.views.home(self.team.id, self.team.person(user).id)

    def files(self, channel: str, ts: str | None = None) -> list[StoredFile]:
        """Files shared in a channel, or in one thread of it."""
        text = self.messages(channel) if ts is None else self.thread(channel, ts)
        return [file for message in text for file in message.files]

    def direct(self, user: str) -> Channel:
        """This person's direct message channel with the app."""
        return self.team.direct(self.team.person(user).id)

    async def until(self, predicate: Callable[[], T], timeout_s: float = 10.0) -> T:
        """Wait until the predicate is true; it is evaluated on every change."""
        return await self.site.changes.until(predicate, timeout_s)

    # -- posting ----------------------------------------------------------------------------------------------

    def say(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Message:
        """Post a message as typed: @name, #channel and links are converted as in Slack."""
        person, where = self._in(user, channel)
        if text.startswith("/"):
            raise NotInSlack("that is a slash command")
        if not text.strip():
            raise NotInSlack("there is nothing to send")
        if thread_ts is not None and where.find(thread_ts) is None:
            raise NotInSlack("there is no such message to answer")
        ts = self.site.new_ts()
        message = Message(
            ts,
            where.id,
            person.id,
            compose(self.team, text),
            person.home_team or self.team.id,
            blocks=with_ids(rich_text(self.team, text), ts),
            thread_ts=thread_ts,
        )
        return posting.put(self.site, self.team, where, message)

    def share(
        self,
        user: str,
        channel: str,
        name: str,
        content: bytes,
        text: str = "",
        thread_ts: str | None = None,
        **more: Any,
    ) -> Message:
        """Share a file, with or without text. `more` has the additional fields of an external file."""
        person, where = self._in(user, channel)
        file = StoredFile(self.site.new_id("F"), name, len(content), name, content, shared=True)
        self.site.files[file.id] = file
        downloads.describe(self.site, self.team, file)
        file.more |= more
        ts, home = self.site.new_ts(), person.home_team or self.team.id
        blocks = compose(self.team, text)
        message = Message(
            ts, where.id, person.id, blocks, home, files=[file], thread_ts=thread_ts, subtype="file_share"
        )
        return posting.put(self.site, self.team, where, message)

    def mention(self, user: str, channel: str, text: str, thread_ts: str | None = None) -> Message:
        """Post a message that mentions the app."""
        return self.say(user, channel, f"@{self.team.bot.name} {text}", thread_ts)

    def say_as_app(self, name: str, channel: str, text: str, **more: Any) -> Message:
        """Post as another app, with its `blocks`, `attachments` and `thread_ts`."""
        where = self._channel(channel)
        ts = self.site.new_ts()
        message = Message(
            ts,
            where.id,
            "",
            text,
            self.team.id,
            subtype="bot_message",
            bot_id=make_id("B", self.team.domain, name),
            app_id=make_id("A", self.team.domain, name),
            author=name,
            blocks=with_ids(more.get("blocks") or [], ts),
            attachments=more.get("attachments") or [],
            thread_ts=more.get("thread_ts"),
        )
        return posting.put(self.site, self.team, where, message)

    def edit(self, user: str, message: Message, text: str) -> None:
        """Edit a person's own message."""
        person, where = self._in(user, message.channel)
        if message.user != person.id:
            raise NotInSlack("that message is somebody else's")
        content = posting.Draft(compose(self.team, text), rich_text(self.team, text))
        posting.change(self.site, self.team, where, message, content)

    def delete(self, user: str, message: Message) -> None:
        """Delete a person's own message."""
        person, where = self._in(user, message.channel)
        if message.user != person.id:
            raise NotInSlack("that message is somebody else's")
        posting.delete(self.site, self.team, where, message)

    async def slash(self, user: str, channel: str, command: str, text: str = "", thread_ts: str | None = None) -> None:
        """Send a slash command. Slack allows them in channels, but not in threads."""
        person, where = self._in(user, channel)
        if thread_ts is not None:
            raise NotInSlack(f"{command} is not supported in threads. Sorry!")
        if command not in self.site.manifest.commands:
            raise NotInSlack(f"{command} is not a valid command")
        typed = compose(self.team, text) if command in self.site.manifest.escaped_commands else text
        await interactions.command(self.site, self.team, person, where, command, typed.strip())

    # -- interactive elements ---------------------------------------------------------------------------------

    async def press(
        self, user: str, place: Message | View | str, action_id: str, *, block_id: str | None = None
    ) -> None:
        """Press a button in a message (or its ts), a modal or the Home tab."""
        await self._act(user, place, action_id, None, block_id, pressing=True)

    async def select(
        self, user: str, place: Message | View | str, action_id: str, value: Any, *, block_id: str | None = None
    ) -> None:
        """Choose options or enter text. Options are given by value, several as a list; external ones are fetched."""
        await self._act(user, place, action_id, value, block_id)

    async def suggest(
        self, user: str, place: Message | View | str, action_id: str, query: str = "", *, block_id: str | None = None
    ) -> list[Body]:
        """The options of an external menu for the typed text."""
        person, found = self._see(user, place)
        block, element = state.find(found.blocks, action_id, block_id)
        if len(query) < element.get("min_query_length", 3):
            return []
        if isinstance(found, View):
            where = payloads.in_view(found)
        else:
            where = payloads.in_message(self._channel(found.channel), found, found.state)
        options = await interactions.suggest(self.site, self.team, person, where, block, element, query)
        self.site.offered[self.team.id, person.id, action_id] = options
        return options

    async def _act(
        self,
        user: str,
        place: Message | View | str,
        action_id: str,
        value: Any,
        block_id: str | None,
        *,
        pressing: bool = False,
    ) -> None:
        person, found = self._see(user, place)
        block, element = state.find(found.blocks, action_id, block_id)
        if pressing != (element["type"] == "button"):
            raise NotInSlack(f"{action_id!r} is a {element['type']}")
        offered = self._offered(user, element)
        if offered is not None and value:
            wanted = value if isinstance(value, str) else value[0]
            if wanted not in [option["value"] for option in offered]:
                offered = await self.suggest(user, found, action_id, wanted, block_id=block_id)
        stored = None if pressing else state.chosen(element, value, offered)
        if isinstance(found, View):
            await interactions.act_in_view(self.site, self.team, person, found, (block, element, stored))
        else:
            where = self._channel(found.channel)
            await interactions.act_in_message(self.site, self.team, person, where, found, (block, element, stored))

    # -- modals, Home and shortcuts ---------------------------------------------------------------------------

    def fill(self, user: str, action_id: str, value: Any, *, block_id: str | None = None) -> None:
        """Fill in an input of the open modal that sends nothing to the app before submission."""
        view = self._open(user)
        block, element = state.find(view.blocks, action_id, block_id)
        stored = state.chosen(element, value, self._offered(user, element))
        view.values.setdefault(block["block_id"], {})[action_id] = stored

    def _offered(self, user: str, element: Body) -> list[Body] | None:
        """The options an external menu showed last."""
        if "external" not in element["type"]:
            return None
        first = element.get("initial_option")
        shown = self.site.offered.get((self.team.id, self.team.person(user).id, element["action_id"]), [])
        return [*shown, *([first] if first else []), *(element.get("initial_options") or [])]

    async def submit_view(self, user: str, values: dict[str, Any] | None = None) -> None:
        """Submit the open modal with these values by action id."""
        for action_id, value in (values or {}).items():
            self.fill(user, action_id, value)
        view = self._open(user)
        if view.body.get("submit") is None:
            raise NotInSlack("this modal has nothing to send")
        await interactions.submit(self.site, self.team, self.team.person(user), view)

    async def close_view(self, user: str, *, all_of_them: bool = False) -> None:
        person = self.team.person(user)
        await interactions.close(self.site, self.team, person, self._open(user), all_of_them=all_of_them)

    def open_home(self, user: str, tab: str = "home") -> None:
        """Open the app's Home tab."""
        person = self.team.person(user)
        event: Body = {
            "type": "app_home_opened",
            "user": person.id,
            "channel": self.team.direct(person.id).id,
            "tab": tab,
            "event_ts": self.site.new_ts(),
        }
        shown = self.site.views.home(self.team.id, person.id)
        if shown is not None and tab == "home":
            event["view"] = shown.show()
        events.tell(self.site, self.team, "app_home_opened", event)

    async def shortcut(self, user: str, callback_id: str, message: Message | None = None) -> None:
        """Run a shortcut: from a message's menu, or a global one."""
        offered = self.site.manifest.global_shortcuts if message is None else self.site.manifest.message_shortcuts
        if callback_id not in dict(offered):
            raise NotInSlack(f"there is no shortcut {callback_id!r}; there are {[name for name, _ in offered]}")
        person = self.team.person(user)
        if message is None:
            await interactions.global_shortcut(self.site, self.team, person, callback_id)
            return
        _, where = self._in(user, message.channel)
        await interactions.message_shortcut(self.site, self.team, person, where, message, callback_id)

    # -- channels ---------------------------------------------------------------------------------------------

    def join(self, user: str, channel: str) -> None:
        person, where = self.team.person(user), self._channel(channel)
        if person.id in where.members:
            return
        if where.kind != "public" or person.guest:
            raise NotInSlack(f"{person.name} cannot join {where.name}")
        where.members.append(person.id)
        events.tell_joined(self.site, self.team, where, person.id)
        self.site.changes.ring()

    def invite(self, user: str, guest: str, channel: str) -> None:
        """Somebody brings a person in: guests come into a channel no other way."""
        where, person = self._channel(channel), self.team.person(guest)
        if self.team.person(user).id not in where.members:
            raise NotInSlack(f"{user} is not in {where.name}")
        if person.id not in where.members:
            where.members.append(person.id)
            events.tell_joined(self.site, self.team, where, person.id)
            self.site.changes.ring()

    def invite_app(self, user: str, channel: str) -> None:
        """Invite the app to a channel."""
        person, where = self._in(user, channel)
        if self.team.bot.id not in where.members:
            where.members.append(self.team.bot.id)
            events.tell_joined(self.site, self.team, where, self.team.bot.id, inviter=person.id)
            self.site.changes.ring()

    def create_channel(self, user: str, name: str) -> Channel:
        person = self.team.person(user)
        channel = Channel(name, [person.id], id=self.site.new_id("C"))
        self.team.channels.append(channel)
        shown = {"id": channel.id, "name": name, "created": int(self.site.clock.now()), "creator": person.id}
        event = {"type": "channel_created", "channel": shown, "event_ts": self.site.new_ts()}
        events.tell(self.site, self.team, "channel_created", event)
        self.site.changes.ring()
        return channel

    def rename_channel(self, channel: str, name: str) -> None:
        where = self._channel(channel)
        where.name = name
        shown = {"id": where.id, "name": name, "created": 1_700_000_000}
        event = {"type": "channel_rename", "channel": shown, "event_ts": self.site.new_ts()}
        events.tell(self.site, self.team, "channel_rename", event)
        self.site.changes.ring()

    # -- permissions ------------------------------------------------------------------------------------------

    def may_see(self, user: str, channel: Channel) -> bool:
        """Members see all public channels; guests and external users only those they are in."""
        person = self.team.person(user)
        if person.id in channel.members:
            return True
        return channel.kind == "public" and not person.guest and not person.home_team

    def _channel(self, where: str) -> Channel:
        return self.team.channel(where)

    def _in(self, user: str, channel: str) -> tuple[Person, Channel]:
        """The person and a channel in which they can post."""
        person, where = self.team.person(user), self._channel(channel)
        if person.deleted:
            raise NotInSlack(f"{person.name} has no account any more")
        if person.id not in where.members:
            raise NotInSlack(f"{person.name} is not in {where.name}")
        if where.archived:
            raise NotInSlack(f"{where.name} is archived")
        return person, where

    def _see(self, user: str, place: Message | View | str) -> tuple[Person, Message | View]:
        """Check that the person can see the message or view."""
        person = self.team.person(user)
        if isinstance(place, str):
            place = self._message(place)
        if isinstance(place, View):
            shown = [*self.site.views.stack(self.team.id, person.id), self.site.views.home(self.team.id, person.id)]
            if place not in shown:
                raise NotInSlack(f"{person.name} does not have that open")
            return person, place
        where = self._channel(place.channel)
        if place not in where.messages or place.only_for not in (None, person.id) or not self.may_see(user, where):
            raise NotInSlack(f"{person.name} does not see that message")
        if where.archived:
            raise NotInSlack(f"{where.name} is archived")
        return person, place

    def _message(self, ts: str) -> Message:
        for channel in self.team.channels:
            for message in channel.messages:
                if message.ts == ts:
                    return message
        raise NotInSlack(f"there is no message {ts}")

    def _open(self, user: str) -> View:
        view = self.modal(user)
        if view is None:
            raise NotInSlack(f"{user} has no modal open")
        return view
