"""Who those are that let a fix run, as Slack says at this moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.fixes.recheck import CannotAsk, Unknown
from bot.policy.look import Asker
from bot.slack.api.calls import CallFailed, Refused
from bot.slack.api.people import People


class SlackAskers:
    """A `bot.fixes.recheck.Askers`."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def askers_now(self, team: str, users: Iterable[str], groups: Iterable[str]) -> Mapping[str, Asker | Unknown]:
        try:
            found = await self._people.askers_now(team, users, groups)
        except CallFailed as mute:
            raise CannotAsk(str(mute)) from mute
        return {user: Unknown(str(item)) if isinstance(item, Refused) else item for user, item in found.items()}
