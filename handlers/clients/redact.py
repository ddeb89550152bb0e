"""The one place where secrets leave an answer: before it is cached, recorded, parsed by anything else, or logged.

A secret is known by the key it stands under (`secret_keys`), or by how it looks (`secret_texts`). It becomes
`[redacted:kind]`. Keys, lists, numbers and booleans stay, so the structure of an answer never changes, and redacting
twice is redacting once.

An answer of 2 MB must not hold up the event loop: every distinct text is looked at once, only for what it can hold at
all, and an answer without secrets (nearly all of them) is passed on as it is.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any

import orjson

from handlers.clients.secret_keys import PLAIN, WHOLE_BRANCH, kind_of_key, looks_harmless, mark
from handlers.clients.secret_texts import hints_in, patterns_for, scrub

DEEPEST = 300
"""Deeper than any answer of Azure; what lies below is dropped rather than trusted."""
NESTED = 8
"""JSON in a string in JSON in a string: Azure nests three."""
SHORTEST = 8
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{40,}={0,2}\s*")
_WHOLE_MARK = re.compile(r"\[redacted:[a-z0-9-]+\]")
_NAMES = ("name", "Name", "key", "Key", "keyName", "KeyName")


def redact(value: Any) -> Any:
    """A JSON tree without its secrets. What holds none is returned as it is."""
    return _tree(value, 0)


def redact_text(text: str) -> str:
    """Any text (an error's, a log line's) without its secrets."""
    return _text(text, 0)


def redact_json(raw: bytes) -> tuple[Any, bytes]:
    """The parsed body and its bytes, both without secrets."""
    body = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    clean = _tree(body, 0)
    return clean, raw if clean is body else orjson.dumps(clean)


def _tree(value: Any, nested: int) -> Any:
    if isinstance(value, str):
        return _text(value, nested)
    texts, keyed = _survey(value)
    replaced = {text: clean for text in _suspects(texts) if (clean := _text(text, nested)) != text}
    return _rebuilt(value, "", replaced, 0) if replaced or keyed else value


def _survey(value: Any) -> tuple[set[str], bool]:
    """Every distinct text, and whether any stands where only a secret stands."""
    texts: set[str] = set()
    keys: set[str] = set()
    keyed = False
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            keys.update(node)
            keyed = keyed or bool(_below(node, ""))
            inside: Iterable[Any] = node.values()
        else:
            inside = node if isinstance(node, list) else ()
        for one in inside:
            if isinstance(one, str):
                texts.add(one)
            elif isinstance(one, (dict, list)):
                stack.append(one)
    return texts, keyed or any(kind_of_key(key) not in ("", PLAIN) for key in keys)


def _suspects(texts: set[str]) -> list[str]:
    """The few texts that are worth a real look."""
    long_enough = [text for text in texts if len(text) >= SHORTEST]
    hints = hints_in("\n".join(long_enough))
    return [
        text
        for text in long_enough
        if text[0] in "{[ \r\n\t" or (len(text) >= 40 and _BASE64.fullmatch(text)) or hints.any_in(text)
    ]


def _rebuilt(node: Any, kind: str, replaced: dict[str, str], depth: int) -> Any:
    """A copy where something changed, the thing itself where nothing did."""
    if isinstance(node, str):
        return _at(node, kind, replaced)
    if depth > DEEPEST:
        return type(node)()
    if isinstance(node, list):
        rows = [one if _is_plain(one) else _rebuilt(one, kind, replaced, depth + 1) for one in node]
        return rows if any(new is not old for new, old in zip(rows, node, strict=True)) else node
    below = _below(node, kind)
    changed: dict[str, Any] = {}
    for key, one in node.items():
        if _is_plain(one):
            continue
        clean = _rebuilt(one, _kind_at(key, one, below), replaced, depth + 1)
        if clean is not one:
            changed[key] = clean
    return {**node, **changed} if changed else node


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (str, dict, list))


def _at(text: str, kind: str, replaced: dict[str, str]) -> str:
    if kind == PLAIN:
        return text
    if kind and not _WHOLE_MARK.fullmatch(text) and _is_secret(text, kind):
        return mark(kind)
    return replaced.get(text, text)


def _is_secret(text: str, kind: str) -> bool:
    if kind == "docker-auth":
        return ":" in _unpacked(text) or text.lstrip().startswith("{")
    return bool(text) and (kind in WHOLE_BRANCH or not looks_harmless(text))


def _kind_at(key: str, value: Any, below: dict[str, str]) -> str:
    kind = below.get(key) or below.get("*") or kind_of_key(key)
    # Kubernetes has `claims` too: a list of names.
    return "" if kind == "claims" and isinstance(value, list) and "*" not in below else kind


def _below(node: dict[str, Any], kind: str) -> dict[str, str]:
    """What the neighbours say about a value: `{"name": "DB_PASSWORD", "value": …}`, a Secret's data, claims."""
    if kind in WHOLE_BRANCH:
        return {"*": kind}
    if kind and kind != PLAIN:
        return {"value": kind, "defaultValue": kind}
    if node.get("kind") == "Secret":
        return {"data": "secret-data", "stringData": "secret-data"}
    if "value" in node or "Value" in node:
        found = _kind_of_neighbour(node)
        return {"value": found, "Value": found} if found not in ("", PLAIN) else {}
    return {}


def _kind_of_neighbour(node: dict[str, Any]) -> str:
    named = next((node[one] for one in _NAMES if isinstance(node.get(one), str)), "")
    found = kind_of_key(named) if named else ""
    return found or ("key" if "keyName" in node or "KeyName" in node else "")


def _text(text: str, nested: int) -> str:
    if len(text) < SHORTEST:
        return text
    if nested < NESTED:
        if text.lstrip()[:1] in ("{", "[") and (inside := _json_inside(text, nested)) is not None:
            return inside
        if len(text) >= 40 and _BASE64.fullmatch(text) and _hides(text, nested):
            return mark("encoded")
    return scrub(text, patterns_for(text))


def _json_inside(text: str, nested: int) -> str | None:
    """JSON in a string (an event's statusMessage). None: it is none, or cut, and has to be read as text."""
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(body, (dict, list)):
        return None
    clean = _tree(body, nested + 1)
    return text if clean is body else orjson.dumps(clean).decode()


def _hides(text: str, nested: int) -> bool:
    """Whether something secret is packed in base64: a kubeconfig, a private key, a script with a password."""
    packed = _unpacked(text)
    return bool(packed) and _text(packed, nested + 1) != packed


def _unpacked(text: str) -> str:
    """What base64 holds, if it is base64 of a text at all."""
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
