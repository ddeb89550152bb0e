"""Block and action ids: uniqueness checks, and generation of missing ones."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from sandbox.slack.blocks.rules import Notes

Block = dict[str, Any]

_INERT = {None, "image", "mrkdwn", "plain_text"} | {
    f"rich_text_{part}" for part in ("section", "list", "preformatted", "quote")
}


def elements_of(block: Block) -> Iterator[Block]:
    """The interactive elements of a block."""
    candidates = [block.get("accessory"), block.get("element"), *(block.get("elements") or [])]
    for candidate in candidates:
        if isinstance(candidate, dict) and candidate.get("type") not in _INERT:
            yield candidate


def check_unique(blocks: list[Any], place: str, notes: Notes) -> None:
    """Check that block ids are unique on the surface, and action ids within a block."""
    seen: set[str] = set()
    for number, block in enumerate(blocks):
        if not isinstance(block, dict):
            continue
        name = block.get("block_id")
        if isinstance(name, str):
            if name in seen:
                notes.add(f'`block_id` "{name}" already exists', f"{place}/{number}/block_id")
            seen.add(name)
        _check_actions(block, f"{place}/{number}", notes)


def _check_actions(block: Block, place: str, notes: Notes) -> None:
    elements = block.get("elements")
    if not isinstance(elements, list):
        return
    seen: set[str] = set()
    for number, element in enumerate(elements):
        name = element.get("action_id") if isinstance(element, dict) else None
        if not isinstance(name, str):
            continue
        if name in seen:
            notes.add(f'`action_id` "{name}" already exists', f"{place}/elements/{number}/action_id")
        seen.add(name)


def with_ids(blocks: list[Block], salt: str) -> list[Block]:
    """A copy with generated ids for every block and interactive element that has none, as in Slack."""
    done = []
    for number, block in enumerate(blocks):
        named = {**block, "block_id": block.get("block_id") or _made_up(salt, number)}
        for field in ("accessory", "element"):
            if isinstance(named.get(field), dict):
                named[field] = _with_action(named, named[field], salt, f"{number}.{field}")
        if isinstance(named.get("elements"), list):
            named["elements"] = [
                _with_action(named, element, salt, f"{number}.{index}")
                for index, element in enumerate(named["elements"])
            ]
        done.append(named)
    return done


def _with_action(block: Block, element: Any, salt: str, where: str) -> Any:
    if any(element is known for known in elements_of(block)):
        return {**element, "action_id": element.get("action_id") or _made_up(salt, where)}
    return element


def _made_up(salt: str, where: object) -> str:
    return hashlib.sha256(f"{salt}/{where}".encode()).hexdigest()[:5]
