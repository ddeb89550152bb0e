"""users.*, usergroups.* and team.info."""

from __future__ import annotations

from sandbox.slack.api.call import Body, Call, method, page
from sandbox.slack.errors import Refused
from sandbox.slack.workspace import Group, Person


def show(call: Call, person: Person) -> Body:
    """A person as the app may see them: the email address requires its scope."""
    email = {"email": person.email} if person.email and "users:read.email" in call.site.manifest.scopes else {}
    foreign = bool(person.home_team)
    return {
        "id": person.id,
        "team_id": person.home_team or call.team.id,
        "name": person.name,
        "deleted": person.deleted,
        "real_name": person.name,
        "tz": "Etc/UTC",
        "tz_label": "UTC",
        "tz_offset": 0,
        "profile": {"real_name": person.name, "display_name": person.name, "title": person.title, **email},
        "is_admin": False,
        "is_owner": False,
        "is_restricted": person.guest != "",
        "is_ultra_restricted": person.guest == "single-channel",
        "is_stranger": foreign,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": 1_700_000_000,
    }


@method("users.info", "users:read")
def info(call: Call) -> Body:
    person = call.team.find_person(call.text("user"))
    if person is None:
        raise Refused("user_not_found")
    return {"user": show(call, person)}


@method("users.list", "users:read")
def listing(call: Call) -> Body:
    rows, metadata = page(list(call.team.everybody()), call, default=1000)
    return {
        "members": [show(call, row) for row in rows],
        "cache_ts": int(call.site.clock.now()),
        "response_metadata": metadata,
    }


@method("users.lookupByEmail", "users:read.email")
def by_email(call: Call) -> Body:
    wanted = call.text("email").lower()
    for person in call.team.everybody():
        if person.email and person.email.lower() == wanted and not person.deleted:
            return {"user": show(call, person)}
    raise Refused("users_not_found")


def _show_group(call: Call, group: Group) -> Body:
    return {
        "id": group.id,
        "team_id": call.team.id,
        "is_usergroup": True,
        "name": group.name or group.handle,
        "handle": group.handle,
        "description": "",
        "is_external": False,
        "date_delete": 0,
        "user_count": len(group.members),
    }


@method("usergroups.list", "usergroups:read")
def groups(call: Call) -> Body:
    with_users = call.flag("include_users")
    rows = [
        _show_group(call, group) | ({"users": list(group.members)} if with_users else {}) for group in call.team.groups
    ]
    return {"usergroups": rows}


@method("usergroups.users.list", "usergroups:read")
def group_users(call: Call) -> Body:
    wanted = call.text("usergroup")
    for group in call.team.groups:
        if group.id == wanted:
            return {"users": list(group.members)}
    raise Refused("no_such_subteam")


@method("team.info", "team:read")
def team_info(call: Call) -> Body:
    asked = call.args.get("team")
    if asked and asked != call.team.id:
        raise Refused("team_not_found")
    team = call.team
    return {"team": {"id": team.id, "name": team.name, "domain": team.domain, "email_domain": "", "icon": {}}}
