"""views.*: modals and Home tabs."""

from __future__ import annotations

from typing import Any

from sandbox.slack.api.call import Body, Call, method
from sandbox.slack.blocks.surfaces import check_view
from sandbox.slack.errors import Refused
from sandbox.slack.interactions import new_view
from sandbox.slack.views import check_hash


def _view(call: Call, kind: str) -> Body:
    view: Any = call.structure("view")
    if view is None:
        call.text("view")
    check_view(view, kind, call.team.features)
    body: Body = view
    return body


@method("views.open")
def open_view(call: Call) -> Body:
    body = _view(call, "modal")
    trigger = call.site.triggers.take(call.text("trigger_id"), call.team.id)
    view = new_view(call.site, call.team, trigger.user, body)
    call.site.views.open(view)
    call.site.changes.ring()
    return {"view": view.show()}


@method("views.push")
def push(call: Call) -> Body:
    body = _view(call, "modal")
    trigger = call.site.triggers.take(call.text("trigger_id"), call.team.id)
    if not trigger.view:
        raise Refused("invalid_trigger_id")
    view = new_view(call.site, call.team, trigger.user, body)
    call.site.views.push(view)
    call.site.changes.ring()
    return {"view": view.show()}


@method("views.update")
def update(call: Call) -> Body:
    if not call.args.get("view_id") and not call.args.get("external_id"):
        call.text("view_id")
    view = call.site.views.find(call.team.id, call.args.get("view_id"), call.args.get("external_id"))
    body = _view(call, view.kind)
    check_hash(view, call.args.get("hash"))
    view.fill(body)
    call.site.changes.ring()
    return {"view": view.show()}


@method("views.publish")
def publish(call: Call) -> Body:
    if not call.site.manifest.home_tab:
        raise Refused("not_enabled")
    user = call.text("user_id")
    person = call.team.find_person(user)
    if person is None or person.is_bot:
        raise Refused("user_not_found")
    body = _view(call, "home")
    shown = call.site.views.home(call.team.id, user)
    if shown is not None:
        check_hash(shown, call.args.get("hash"))
        shown.fill(body)
    else:
        shown = new_view(call.site, call.team, user, body)
        call.site.views.publish(shown)
    call.site.changes.ring()
    return {"view": shown.show()}
