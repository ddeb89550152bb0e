"""Kubernetes API paths taken apart: a short name, the permission needed, whether a request only reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlencode

from handlers.clients.errors import NotARead

REVIEWS = re.compile(
    r"^/apis/authorization\.k8s\.io/v1/(?:selfsubjectaccessreviews|selfsubjectrulesreviews|subjectaccessreviews)$"
)
"""The POSTs that read: they ask what somebody may do."""
ACTING = frozenset({"proxy", "exec", "attach", "portforward"})
"""GETs that do something: they reach into a pod or a node."""
POD_PORT = re.compile(r"^/api/v1/namespaces/[a-z0-9-]+/pods/[a-z0-9.-]+:[0-9]{1,5}/proxy/$")
"""The one GET that reaches into a pod: whether anybody listens at a port. Only where the settings allow it."""
_PATH_SAFE = "/:@!$&'()*+,;=~-._%"
_QUERY_SAFE = "'():,/!="
_PARTS = re.compile(
    r"^/(?:api/[^/]+|apis/(?P<group>[^/]+)/[^/]+)"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<part>[^/]+))?)?"
)


@dataclass(frozen=True, slots=True)
class ApiPath:
    """One path, taken apart. A path that is no resource (`/readyz`) has only its text."""

    path: str
    resource: str = ""
    group: str = ""
    namespace: str = ""
    name: str = ""
    part: str = ""

    @classmethod
    def at(cls, target: str) -> ApiPath:
        path = unquote(target.partition("?")[0])
        found = _PARTS.match(path)
        return cls(path, **{key: text or "" for key, text in found.groupdict().items()}) if found else cls(path)

    @property
    def wanted(self) -> str:
        """What a person would call it."""
        if not self.resource:
            return self.path
        what = "/".join(filter(None, (self.resource, self.name, self.part)))
        return f"{what} in {self.namespace}" if self.namespace else what

    def grant(self, method: str) -> str:
        """The RBAC permission that it needs."""
        if not self.resource:
            return f"{method.lower()} {self.path}"
        verb = "create" if method == "POST" else "get" if self.name else "list"
        return permission(verb, self.resource + (f"/{self.part}" if self.part else ""), self.group, self.namespace)


def permission(verb: str, resource: str, group: str, namespace: str) -> str:
    what = f"{resource}.{group}" if group else resource
    return f"{verb} {what} ({f'namespace {namespace}' if namespace else 'cluster scope'})"


def target_of(path: str, params: Mapping[str, str] | None = None) -> str:
    """Path and query as they go over the wire."""
    plain, mark, query = path.partition("?")
    more = urlencode({key: value for key, value in (params or {}).items() if value}, safe=_QUERY_SAFE, quote_via=quote)
    whole = "&".join(filter(None, (query, more)))
    return quote(plain, safe=_PATH_SAFE) + (f"?{whole}" if whole or mark else "")


def source_of(target: str) -> str:
    """What was asked, in a form that a person can repeat."""
    return f"kubectl get --raw '{unquote(target)}'"


def refuse_writes(method: str, target: str, *, into_pod: bool = False) -> None:
    """Let GET and the access reviews pass; anything else is a bug in this program. `into_pod`: and a pod's port."""
    asked = ApiPath.at(target)
    reads = method == "GET" or (method == "POST" and bool(REVIEWS.match(asked.path)))
    acts = asked.part in ACTING and not (into_pod and POD_PORT.match(target))
    if not reads or acts or ".." in asked.path.split("/"):
        raise NotARead(f"a reader may not {method} {asked.path}")
    if asked.resource == "secrets" and not asked.group:
        raise NotARead(f"a reader never looks into secrets: {asked.path}")
