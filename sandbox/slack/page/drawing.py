"""The page templates and their helper functions."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from sandbox.slack import state
from sandbox.slack.message import Body, StoredFile
from sandbox.slack.page.icons import icon
from sandbox.slack.page.look import Look
from sandbox.slack.page.markdown import markdown
from sandbox.slack.page.mrkdwn import decoded, link, mention, mrkdwn, plain
from sandbox.slack.page.scene import Scene
from sandbox.slack.site import Site

_PREVIEW_LINES = 8
_PICTURES = {"png", "jpg", "jpeg", "gif", "webp"}


class Drawing:
    """Renders parts of the page for a scene."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._templates = Environment(
            loader=PackageLoader("sandbox.slack.page"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"plain": _plain, "as_json": json.dumps, "digest": _digest}
        self._templates.globals |= {
            "markdown": markdown,
            "link": _weblink,
            "preview": preview,
            "is_picture": is_picture,
            "icon": icon,
        }

    def page(self, scene: Scene, theme: str) -> str:
        return self._draw("page.html", scene, theme=theme)

    def parts(self, scene: Scene) -> dict[str, str]:
        """Every dynamic part of the page, by element id."""
        return {name: self._draw(f"{name}.html", scene) for name in ("side", "head", "main", "thread", "modal")}

    def _draw(self, name: str, scene: Scene, **more: Any) -> str:
        look = scene.look
        return self._templates.get_template(name).render(
            scene=scene,
            site=self._site,
            team=scene.team,
            person=scene.person,
            look=look,
            view=scene.control.modal(scene.person.id),
            home=scene.control.home(scene.person.id),
            text=lambda value: text(value, look),
            inline=lambda element: rich(element, look),
            choices=lambda element: choices(element, scene),
            held=held,
            **more,
        )


def _plain(value: str) -> Markup:
    return plain(value)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:8]


def _weblink(url: str, label: str) -> Markup:
    return link(url, label)


def text(value: Any, look: Look) -> Markup:
    """Render a text object, or a message's text."""
    if isinstance(value, str):
        return mrkdwn(value, look)
    if value["type"] == "mrkdwn":
        return mrkdwn(value["text"], look)
    # Slack unescapes its own entities in plain text too.
    return plain(decoded(value["text"]))


def rich(element: Body, look: Look) -> Markup:
    """One inline element of rich text."""
    kind = element["type"]
    if kind == "text":
        return _styled(plain(element["text"]), element.get("style") or {})
    if kind == "link":
        return _styled(link(element["url"], element.get("text") or ""), element.get("style") or {})
    if kind == "emoji":
        return plain(f":{element['name']}:")
    if kind == "date":
        return escape(element.get("fallback") or str(element["timestamp"]))
    if kind == "user":
        return mention("@" + look.user(element["user_id"]))
    if kind == "usergroup":
        return mention("@" + look.group(element["usergroup_id"]))
    if kind == "channel":
        return mention("#" + look.channel(element["channel_id"]))
    return mention("@" + element["range"]) if kind == "broadcast" else escape(element.get("value", ""))


def _styled(html: Markup, style: Body) -> Markup:
    for name, tag in (("code", "code"), ("strike", "s"), ("italic", "i"), ("bold", "b"), ("underline", "u")):
        if style.get(name):
            html = Markup("<{0}>{1}</{0}>").format(tag, html)
    return html


def choices(element: Body, scene: Scene) -> list[tuple[str, str]]:
    """The options of a user or channel select menu: value and name."""
    kind = element["type"]
    if "users" in kind:
        return [(person.id, person.name) for person in scene.persons()]
    return [(entry.channel.id, f"#{entry.name}") for entry in scene.entries()]


def held(values: Body, block: Body, element: Body) -> Any:
    """An element's current value, as a form field value."""
    now = (values.get(block["block_id"]) or {}).get(element["action_id"]) or state.initial(element) or {}
    for name, value in now.items():
        if name == "type":
            continue
        if name == "selected_option":
            return value and value["value"]
        if name == "selected_options":
            return [item["value"] for item in value]
        return value
    return None


def preview(file: StoredFile) -> str:
    """The first lines of a text file."""
    if file.content is None or is_picture(file):
        return ""
    lines = file.content.decode(errors="replace").splitlines()
    return "\n".join(lines[:_PREVIEW_LINES]) + ("\n…" if len(lines) > _PREVIEW_LINES else "")


def is_picture(file: StoredFile) -> bool:
    return file.type in _PICTURES
