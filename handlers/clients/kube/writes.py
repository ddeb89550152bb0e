"""The closed list of writes inside a cluster, and what each must name so that it changes nothing else.

PATCH   a disruption budget   the resourceVersion that was read: a concurrent change wins
DELETE  one pod               its uid: another pod with its name stays
POST    a pod                 its name: the API server refuses a second one
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handlers.clients.errors import NotARead
from handlers.clients.kube.paths import ACTING, ApiPath

MARK = "[redacted:"


class NotPartOfAFix(RuntimeError):
    """A writer was asked to send something that no fix needs. It was not sent."""


def may_be_written(method: str, target: str, body: Mapping[str, Any]) -> None:
    """Let the writes of fixes pass; anything else is a bug in this program."""
    asked = ApiPath.at(target)
    what = f"{method} {asked.path}"
    if not asked.namespace or asked.part or "?" in target or ".." in asked.path.split("/"):
        raise NotPartOfAFix(what)
    match method, asked.group, asked.resource, bool(asked.name):
        case "PATCH", "policy", "poddisruptionbudgets", True:
            named = _at(body, "metadata", "resourceVersion")
        case "DELETE", "", "pods", True:
            named = _at(body, "preconditions", "uid")
        case "POST", "", "pods", False:
            named = _at(body, "metadata", "name")
        case _:
            raise NotPartOfAFix(what)
    if not named:
        raise NotPartOfAFix(f"{what}, without what keeps it from hitting anything else")


def refuse_secrets(target: str) -> None:
    """The writer reads only the kinds that it writes, and no secrets."""
    asked = ApiPath.at(target)
    if asked.part in ACTING or (asked.resource == "secrets" and not asked.group) or ".." in asked.path.split("/"):
        raise NotARead(f"a writer may not look at {asked.path}")


def _at(body: Mapping[str, Any], above: str, name: str) -> Any:
    stored = body.get(above)
    return stored.get(name) if isinstance(stored, Mapping) else None
