"""Finds the scenario rule that applies to a write."""

from __future__ import annotations

from sandbox.arm.site import Site
from sandbox.world import WriteRule

_ALSO_CALLED = {"updateinstances": "manualupgrade"}
"""Azure CLI names of actions, and the names in the path."""


def take_rule(site: Site, method: str, path: str, action: str = "") -> WriteRule | None:
    """The first rule for this write that is not used up and whose cause still applies; counts the use."""
    wanted = _name(action)
    for index, rule in enumerate(site.world.writes):
        if rule.method.upper() != method or rule.id.lower() != path.lower() or _name(rule.action) != wanted:
            continue
        used = site.rule_uses.get(index, 0)
        if rule.times is not None and used >= rule.times:
            continue
        if rule.only_while is not None and not site.world.holds(rule.only_while):
            continue
        site.rule_uses[index] = used + 1
        return rule
    return None


def _name(action: str) -> str:
    return _ALSO_CALLED.get(action.lower(), action.lower())
