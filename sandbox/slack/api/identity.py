"""auth.test and apps.connections.open: the app's identity and its Socket Mode URL."""

from __future__ import annotations

from sandbox.slack.api.call import Body, Call, method
from sandbox.slack.errors import Refused


@method("auth.test")
def test(call: Call) -> Body:
    team = call.team
    return {
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": team.bot.name,
        "team_id": team.id,
        "user_id": team.bot.id,
        "bot_id": call.site.bot_id,
        "is_enterprise_install": False,
    }


@method("apps.connections.open", caller="app")
def connections(call: Call) -> Body:
    if not call.site.manifest.socket_mode:
        raise Refused("socket_mode_not_enabled")
    address = call.site.base.replace("http://", "ws://", 1)
    return {"url": f"{address}/link/?ticket={call.site.sockets.ticket()}&app_id={call.site.app_id}"}
