"""Renders a message as text, as it reads in Slack, for golden files."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from bot.render.packet.archive import Archive
from bot.slack.kit.message import AnswerMessages, Message

MOST_OPTIONS = 10
MOST_LINES = 40
LONGEST_LINE = 300
RULE = "─" * 60


def read(said: AnswerMessages | Message | dict[str, Any]) -> str:
    if isinstance(said, dict):
        return _view(said)
    if isinstance(said, Message):
        return "\n".join(_block(block) for block in said.blocks) + "\n"
    parts = [f"HEAD   (notification: {html.unescape(said.head.text)})", read(said.head)]
    for number, message in enumerate(said.thread, 1):
        parts += [RULE, f"THREAD {number}", read(message)]
    for picture in said.pictures:
        parts += [RULE, f"PICTURE   {picture.name}", picture.alt, ""]
    if isinstance(said.file, Archive):
        parts += [RULE, f"FILE   {said.file.name}", *(f"{name}: {holds}" for name, holds in said.file.contents), ""]
    elif said.file:
        lines = said.file.text.splitlines()
        rest = [f"({len(lines) - MOST_LINES} more lines)"] if len(lines) > MOST_LINES else []
        parts += [RULE, f"FILE   {said.file.name}", *(line[:LONGEST_LINE] for line in lines[:MOST_LINES]), *rest, ""]
    return "\n".join(parts)


def _view(view: dict[str, Any]) -> str:
    title = view["title"]["text"] if "title" in view else "Home"
    body = "\n".join(_block(block) for block in view["blocks"])
    closing = [f"[ {view[key]['text']} ]" for key in ("close", "submit") if key in view]
    return "\n".join(
        [f"┌ {title}", *(f"│ {line}".rstrip() for line in body.split("\n")), f"└ {'  '.join(closing)}", ""]
    )


def _block(block: dict[str, Any]) -> str:
    return _READ[block["type"]](block)


def _section(block: dict[str, Any]) -> str:
    said = [block["text"], *block.get("fields", ())] if "text" in block else block["fields"]
    beside = f"   {_element(block['accessory'])}" if "accessory" in block else ""
    return "\n".join(html.unescape(str(one["text"])) for one in said) + beside


def _context(block: dict[str, Any]) -> str:
    return "  ".join(f"({html.unescape(one['text'])})" for one in block["elements"])


def _actions(block: dict[str, Any]) -> str:
    return "  ".join(_element(one) for one in block["elements"])


def _element(element: dict[str, Any]) -> str:
    if element["type"] == "button":
        return f"[ {element['text']['text']} ]"
    options = [one["text"]["text"] for one in element.get("options", ())]
    shown = options if len(options) <= MOST_OPTIONS else [*options[:MOST_OPTIONS], f"({len(options)} in all)"]
    return "\n".join([f"[ {element['placeholder']['text']} ▾ ]", *(f"    {one}" for one in shown)])


def _input(block: dict[str, Any]) -> str:
    hint = f" ({block['hint']['text']})" if "hint" in block else ""
    return f"{block['label']['text']}{hint}\n  [ {block['element']['type']} ]"


def _rich(block: dict[str, Any]) -> str:
    return "\n".join(_rich_element(one).rstrip("\n") for one in block["elements"])


def _rich_element(element: dict[str, Any]) -> str:
    kind = element["type"]
    if kind == "rich_text_list":
        first = element.get("offset", 0) + 1
        marks = [f"{first + n}." if element["style"] == "ordered" else "•" for n in range(len(element["elements"]))]
        indent = "  " * element["indent"]
        items = [_rich_element(one).replace("\n", f"\n    {indent}") for one in element["elements"]]
        return "\n".join(f"  {indent}{mark} {item}" for mark, item in zip(marks, items, strict=True))
    if kind == "rich_text_preformatted":
        return "\n".join(f"  │ {line}" for line in _runs(element).split("\n"))
    if kind == "rich_text_quote":
        return "\n".join(f"  ▌ {line}" for line in _runs(element).split("\n"))
    return _runs(element)


def _runs(element: dict[str, Any]) -> str:
    return "".join(_run(one) for one in element["elements"])


def _run(run: dict[str, Any]) -> str:
    named = {"user": "@{user_id}", "usergroup": "@{usergroup_id}", "channel": "#{channel_id}", "date": "{fallback}"}
    if run["type"] in named:
        return named[run["type"]].format(**run)
    style, text = run.get("style", {}), run["text"]
    if run["type"] == "link":
        return f"[{text}]({run['url']})"
    if style.get("code"):
        return f"`{text}`"
    return f"*{text}*" if style.get("bold") else str(text)


def _plan(block: dict[str, Any]) -> str:
    marks = {"pending": "○", "in_progress": "◐", "complete": "●", "error": "✗"}
    lines = [f"PLAN {block['title']}"]
    for task in block["tasks"]:
        said = task.get("output") or task.get("details")
        lines.append(f"  {marks[task['status']]} {task['title']}{f': {_rich(said)}' if said else ''}")
    return "\n".join(lines)


_READ: dict[str, Callable[[dict[str, Any]], str]] = {
    "section": _section,
    "context": _context,
    "actions": _actions,
    "rich_text": _rich,
    "plan": _plan,
    "input": _input,
    "image": lambda block: f"[picture: {block['alt_text']}]",
    "divider": lambda _: RULE[:20],
    "header": lambda block: f"# {block['text']['text']}",
}
