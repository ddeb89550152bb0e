"""What is said of a name that does not exist: the nearest ones."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from handlers.model import Unavailable, Why

_MOST = 3


def nearest(name: str, names: Collection[str]) -> list[str]:
    """Names that may have been meant: alike, or with this one in them."""
    alike = get_close_matches(name, list(names), n=_MOST, cutoff=0.5)
    inside = sorted(known for known in names if name in known or known in name)
    return list(dict.fromkeys((*alike, *inside)))[:_MOST]


def absent(kind: str, namespace: str, name: str, names: Collection[str], namespaces: Collection[str]) -> Unavailable:
    """No such thing in the namespace, or no such namespace where these are known."""
    if namespaces and namespace not in namespaces:
        return no_namespace(namespace, namespaces)
    near = nearest(name, names)
    has = f"nearest are {', '.join(near)}" if near else f"there are {len(names)}" if names else "there is none"
    return Unavailable(f"{kind} {namespace}/{name}", Why.ABSENT, f"no {kind} of {namespace} is called {name}; {has}")


def no_namespace(namespace: str, namespaces: Collection[str]) -> Unavailable:
    near = nearest(namespace, namespaces) or sorted(namespaces)[:_MOST]
    return Unavailable(
        f"namespace {namespace}", Why.ABSENT, f"there is no namespace {namespace}; nearest are {', '.join(near)}"
    )
