"""The JSONPath of kubectl: `{.items[*].metadata.name}`, `{range …}…{end}`, `[?(@.type=="Ready")]`, quoted text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(
    r"""(?P<all>\[\*\]|\.\*)
      | \.\.(?P<deep>[A-Za-z_][\w-]*)
      | \.(?P<name>(?:\\.|[^.\[\]{}()'"\s=!<>&|])+)
      | \['(?P<quoted>(?:\\.|[^'])*)'\]
      | \["(?P<double>(?:\\.|[^"])*)"\]
      | \[\?\((?P<test>(?:[^()]|\([^()]*\))*)\)\]
      | \[(?P<slice>-?\d*:-?\d*(?::-?\d+)?)\]
      | \[(?P<index>-?\d+)\]
    """,
    re.VERBOSE,
)
_TEST = re.compile(r"^\s*@(?P<path>[^=!<>]*?)\s*(?:(?P<operator>==|!=|>=|<=|>|<)\s*(?P<value>.+?))?\s*$")
_BLOCK = re.compile(r"\{([^{}]*)\}")


class BadPath(ValueError):
    """The text is not a JSONPath that kubectl accepts."""


def find(path: str, data: Any) -> list[Any]:
    """All values at a path such as `.status.conditions[?(@.type=="Ready")].status`."""
    found = [data]
    text = path.strip().removeprefix("$").removeprefix("@")
    if text and not text.startswith((".", "[")):
        text = f".{text}"
    if text == ".":
        return found
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise BadPath(f"unrecognized character in action: {text[at:]!r}")
        found = [value for stored in found for value in _step(match, stored)]
        at = match.end()
    return found


def _step(match: re.Match[str], stored: Any) -> Iterator[Any]:
    kind = match.lastgroup or ""
    text = match.group(kind)
    match kind:
        case "name" | "quoted" | "double":
            key = re.sub(r"\\(.)", r"\1", text)
            if isinstance(stored, dict) and key in stored:
                yield stored[key]
        case "all":
            yield from _children(stored)
        case "index":
            if isinstance(stored, list) and -len(stored) <= int(text) < len(stored):
                yield stored[int(text)]
        case "slice":
            if isinstance(stored, list):
                yield from stored[slice(*(int(part) if part else None for part in text.split(":")))]
        case "test":
            yield from (child for child in _children(stored) if _passes(text, child))
        case _:
            yield from _deep(text, stored)


def _children(stored: Any) -> list[Any]:
    if isinstance(stored, dict):
        return list(stored.values())
    return stored if isinstance(stored, list) else []


def _deep(name: str, stored: Any) -> Iterator[Any]:
    if isinstance(stored, dict) and name in stored:
        yield stored[name]
    for child in _children(stored):
        yield from _deep(name, child)


def _passes(test: str, stored: Any) -> bool:
    if "&&" in test:
        return all(_passes(part, stored) for part in test.split("&&"))
    if "||" in test:
        return any(_passes(part, stored) for part in test.split("||"))
    match = _TEST.match(test)
    if match is None:
        raise BadPath(f"unrecognized filter: {test!r}")
    found = find(match.group("path"), stored)
    if match.group("operator") is None:
        return bool(found)
    return any(_compares(value, match.group("operator"), _literal(match.group("value"))) for value in found)


def _literal(text: str) -> Any:
    if text[:1] in "'\"" and text[-1:] == text[:1]:
        return text[1:-1]
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadPath(f"unrecognized literal: {text!r}") from error


def _compares(value: Any, operator: str, wanted: Any) -> bool:
    match operator:
        case "==":
            return bool(value == wanted)
        case "!=":
            return bool(value != wanted)
    if not isinstance(value, type(wanted)) and not (isinstance(value, int | float) and isinstance(wanted, int | float)):
        return False
    less, same = bool(value < wanted), bool(value == wanted)
    return {"<": less, "<=": less or same, ">": not less and not same, ">=": not less}[operator]


# -- templates --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Range:
    path: str
    parts: tuple[Any, ...]


def render(template: str, data: Any) -> str:
    """Render a `-o jsonpath=` template."""
    return "".join(_rendered(_parse(template), data))


def _parse(template: str) -> tuple[Any, ...]:
    stack: list[tuple[str, list[Any]]] = [("", [])]
    for text, action in _pieces(template):
        if text:
            stack[-1][1].append(("text", text))
        if action is None:
            continue
        if action.startswith("range "):
            stack.append((action.removeprefix("range ").strip(), []))
        elif action == "end":
            if len(stack) == 1:
                raise BadPath("not in range, nothing to end")
            path, parts = stack.pop()
            stack[-1][1].append(_Range(path, tuple(parts)))
        else:
            stack[-1][1].extend(_outputs(action))
    if len(stack) > 1:
        raise BadPath("unclosed action: range without end")
    return tuple(stack[0][1])


def _pieces(template: str) -> Iterator[tuple[str, str | None]]:
    at = 0
    for match in _BLOCK.finditer(template):
        yield template[at : match.start()], match.group(1).strip()
        at = match.end()
    yield template[at:], None


def _outputs(action: str) -> Iterator[tuple[str, str]]:
    """Split an action into quoted texts and paths at the spaces outside brackets."""
    if action[:1] in "'\"":
        yield "text", action[1:-1].replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
        return
    yield "path", action


def _rendered(parts: tuple[Any, ...], data: Any) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _Range):
            for stored in find(part.path, data):
                yield from _rendered(part.parts, stored)
        elif part[0] == "text":
            yield part[1]
        else:
            yield " ".join(as_text(value) for value in find(part[1], data))


def as_text(value: Any) -> str:
    """A value as kubectl prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict | list):
        # Go sorts keys and escapes HTML characters.
        text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return "" if value is None else str(value)
