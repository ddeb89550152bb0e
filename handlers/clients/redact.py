"""The one place where secrets are removed from an answer: before it is cached, recorded, parsed further or logged.

A secret is recognised by its key (`secret_keys`), or by its format and context in a text (`redaction`). It becomes
`[redacted:kind]`. Keys, lists, numbers and booleans stay, so an answer keeps its structure, and redacting twice gives
the same as redacting once.

An answer of 2 MB must not block the event loop: every distinct text is scanned once, only if it can hold a secret at
all, and an answer without secrets (nearly all of them) is passed on unchanged. Use `redact_off_loop` for texts that
people or programs wrote: they may be long.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from typing import Any

import orjson

from handlers.clients.redaction.commands import in_list
from handlers.clients.redaction.encoded import is_encoded, unpacked
from handlers.clients.redaction.scan import TELLING, spans
from handlers.clients.redaction.span import is_marked, replaced
from handlers.clients.secret_keys import PLAIN, WHOLE_BRANCH, kind_of_key, looks_harmless, mark

DEEPEST = 200
"""Deeper than any answer of Azure, and less than orjson writes (254). What lies below is always dropped."""
NOTHING: frozenset[str] = frozenset()
NESTED = 8
"""JSON in a string in JSON in a string: Azure nests three."""
SHORTEST = 8
LONG = 16 * 1024
"""Characters from which on a text is read in a thread. A log of that length takes some 10 ms, one that was made to take
long some 80 ms."""
_SCANNED_ANYWAY = 8192
_ROUNDS = 6
_SHORT, _MOST_CLEAN = 512, 8192
_clean: set[tuple[str, int]] = set()
"""Short texts in which nothing was found, for each depth: names of actions, types and rules come with every check."""
_NAMES = ("name", "Name", "key", "Key", "keyName", "KeyName")


def redact(value: Any, *, exempt: Collection[str] = NOTHING) -> Any:
    """A JSON tree without its secrets. The same object if it holds none.

    `exempt`: keys whose values stay unchanged (ids), except inside a branch that is secret as a whole.
    """
    return _tree(value, 0, exempt)


def redact_text(text: str) -> str:
    """Any text (an error, a log line) without its secrets."""
    return _text(text, 0)


async def redact_off_loop(text: str) -> str:
    """The same without blocking the event loop: texts of more than 16 kB are scanned in a thread."""
    return await asyncio.to_thread(redact_text, text) if len(text) > LONG else redact_text(text)


def redact_json(raw: bytes) -> tuple[Any, bytes]:
    """The parsed body and its bytes, both redacted."""
    body = orjson.loads(raw.removeprefix(b"\xef\xbb\xbf"))
    clean = _tree(body, 0)
    return clean, raw if clean is body else orjson.dumps(clean)


def redact_each(texts: list[str]) -> list[str]:
    """Redact many unrelated texts. Returns the same list if none holds a secret."""
    replaced = _replacements(texts, 0)
    return [replaced.get(text, text) for text in texts] if replaced else texts


def _tree(value: Any, nested: int, exempt: Collection[str] = NOTHING) -> Any:
    if isinstance(value, str):
        return _text(value, nested)
    texts, keyed = _survey(value, exempt)
    replaced = _replacements(texts, nested)
    return _rebuilt(value, "", replaced, 0, exempt) if replaced or keyed else value


def _replacements(texts: Iterable[str], nested: int) -> dict[str, str]:
    return {text: clean for text in _suspects(texts) if (clean := _text(text, nested)) != text}


def _survey(value: Any, exempt: Collection[str]) -> tuple[set[str], bool]:
    """Collect every distinct text, and whether any key names a secret, or anything is nested too deep."""
    texts: set[str] = set()
    keys: set[str] = set()
    keyed = False
    level, depth = [] if _is_plain(value) else [value], 0
    while level and depth <= DEEPEST:
        below: list[Any] = []
        for node in level:
            inside: Iterable[Any]
            if isinstance(node, dict):
                keys.update(node)
                keyed = keyed or _speaks_of_a_secret(node)
                inside = node.values() if not exempt else [item for key, item in node.items() if key not in exempt]
            else:
                keyed = keyed or bool(_secret_arguments(node))
                inside = node
            for item in inside:
                if isinstance(item, str):
                    texts.add(item)
                elif isinstance(item, (dict, list, tuple)):
                    below.append(item)
        level, depth = below, depth + 1
    return texts, keyed or bool(level) or any(kind_of_key(key) not in ("", PLAIN) for key in keys)


def _suspects(texts: Iterable[str]) -> set[str]:
    """The few texts worth a full scan. One combined search over all of them is quick."""
    chosen = {text for text in texts if len(text) >= SHORTEST}
    suspects = {text for text in chosen if text[0] in "{[ \r\n\t" or len(text) > _SCANNED_ANYWAY or is_encoded(text)}
    rest = list(chosen - suspects)
    ends = list(accumulate(len(text) + 1 for text in rest))
    joined = "\0".join(rest)
    for look in TELLING:
        done = 0
        for found in look.finditer(joined):
            if found.start() >= done:
                at = bisect_right(ends, found.start())
                done = ends[at]
                suspects.add(rest[at])
    return suspects


def _rebuilt(
    node: Any, kind: str, replaced: dict[str, str], depth: int, exempt: Collection[str], program: str = ""
) -> Any:
    """A copy if anything changed, else the same object."""
    if isinstance(node, str):
        return _at(node, kind, replaced)
    if depth > DEEPEST:
        return type(node)()
    if isinstance(node, (list, tuple)):
        rows = [value if _is_plain(value) else _rebuilt(value, kind, replaced, depth + 1, exempt) for value in node]
        if found := _secret_arguments(node, program):
            rows = _without_arguments(node, rows, found)
        return rows if any(new is not old for new, old in zip(rows, node, strict=True)) else node
    below = _below(node, kind)
    changed: dict[str, Any] = {}
    for key, item in node.items():
        if _is_plain(item) or (key in exempt and kind not in WHOLE_BRANCH):
            continue
        runs = _program(node) if key == "args" else ""
        clean = _rebuilt(item, _kind_at(key, item, below), replaced, depth + 1, exempt, runs)
        if clean is not item:
            changed[key] = clean
    return {**node, **changed} if changed else node


def _program(node: dict[str, Any]) -> str:
    """The command of a container, which stands beside its arguments."""
    command = node.get("command")
    return command[-1] if isinstance(command, (list, tuple)) and command and isinstance(command[-1], str) else ""


def _speaks_of_a_secret(node: dict[str, Any]) -> bool:
    """Whether a key beside a value, or the kind of the whole, makes it a secret. Asked of every object of an answer."""
    if ("value" in node or "Value" in node or "kind" in node) and _below(node, ""):
        return True
    return "args" in node and _runs_with_a_secret(node)


def _runs_with_a_secret(node: dict[str, Any]) -> bool:
    arguments = node.get("args")
    return isinstance(arguments, (list, tuple)) and bool(_secret_arguments(arguments, _program(node)))


def has_flags(node: Sequence[Any]) -> bool:
    return any(isinstance(item, str) and item[:1] == "-" for item in node)


def _secret_arguments(node: Sequence[Any], program: str = "") -> dict[int, tuple[int, str]]:
    if has_flags(node):
        return in_list(tuple(item if isinstance(item, str) else "" for item in node), program)
    return {}


def _without_arguments(node: Sequence[Any], rows: list[Any], found: dict[int, tuple[int, str]]) -> list[Any]:
    """A list of arguments without the values that follow secret flags."""
    return [
        row[: found[number][0]] + mark(found[number][1]) if number in found and row is node[number] else row
        for number, row in enumerate(rows)
    ]


def without_arguments(arguments: Sequence[str]) -> list[str]:
    """The same for a list alone."""
    return _without_arguments(list(arguments), list(arguments), _secret_arguments(list(arguments)))


def _is_plain(value: Any) -> bool:
    return not isinstance(value, (str, dict, list, tuple))


def _at(text: str, kind: str, replaced: dict[str, str]) -> str:
    if kind == PLAIN:
        return text
    if kind and not is_marked(text) and _is_secret(text, kind):
        return mark(kind)
    return replaced.get(text, text)


def _is_secret(text: str, kind: str) -> bool:
    if kind == "docker-auth":
        return ":" in unpacked(text) or text.lstrip().startswith("{")
    return bool(text) and (kind in WHOLE_BRANCH or not looks_harmless(text))


def _kind_at(key: str, value: Any, below: dict[str, str]) -> str:
    kind = below.get(key) or below.get("*") or kind_of_key(key)
    # Kubernetes has `claims` too: a list of names.
    return "" if kind == "claims" and isinstance(value, (list, tuple)) and "*" not in below else kind


def _below(node: dict[str, Any], kind: str) -> dict[str, str]:
    """What the neighbouring keys say about a value: `{"name": "DB_PASSWORD", "value": …}`, a Secret's data, claims."""
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
    named = next((node[name] for name in _NAMES if isinstance(node.get(name), str)), "")
    found = kind_of_key(named) if named and not is_marked(named) else ""
    return found or ("key" if "keyName" in node or "KeyName" in node else "")


def _text(text: str, nested: int) -> str:
    if len(text) < SHORTEST:
        return text
    if nested < NESTED:
        if text.lstrip()[:1] in ("{", "[") and (inside := _json_inside(text, nested)) is not None:
            return inside
        if is_encoded(text) and _hides(unpacked(text), nested):
            return mark("encoded")
    return _scanned(text, nested)


def _scanned(text: str, nested: int) -> str:
    """Repeat until nothing more is found: one pass may uncover what the next one recognises."""
    if (text, nested) in _clean:
        return text
    before = text
    for _ in range(_ROUNDS):
        clean = replaced(text, spans(text, lambda inside: _hides(inside, nested)))
        if clean == text:
            break
        text = clean
    if text is before and len(text) <= _SHORT:
        if len(_clean) >= _MOST_CLEAN:
            _clean.clear()
        _clean.add((text, nested))
    return text


def _json_inside(text: str, nested: int) -> str | None:
    """The JSON inside a string (an event's statusMessage). None if it is not JSON, or cut: then scan it as text."""
    try:
        body = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(body, (dict, list)):
        return None
    clean = _tree(body, nested + 1)
    return text if clean is body else orjson.dumps(clean).decode()


def _hides(packed: str, nested: int) -> bool:
    """Whether base64 hides a secret: a kubeconfig, a private key, a script with a password."""
    return nested < NESTED and bool(packed) and _text(packed, nested + 1) != packed
