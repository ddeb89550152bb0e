"""The input of every handler: the parsed request and the server's state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import orjson

from sandbox.arm import errors, paging
from sandbox.arm.answers import Answer
from sandbox.arm.operations import Operations
from sandbox.arm.paths import Place
from sandbox.arm.rbac import Access
from sandbox.world import Principal, World


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated request to ARM."""

    method: str
    place: Place
    query: Mapping[str, str]
    """Query parameters by lower-case name, decoded."""
    headers: Mapping[str, str]
    content: bytes
    principal: Principal
    action: str
    request_id: str
    correlation_id: str

    @property
    def version(self) -> str:
        return self.query.get("api-version", "")

    @property
    def filter(self) -> str:
        return self.query.get("$filter", "").strip()

    def json(self) -> Any:
        """The request body; raises ARM's error if it is not JSON."""
        if not self.content:
            return {}
        try:
            return orjson.loads(self.content)
        except orjson.JSONDecodeError as error:
            raise errors.invalid_content(str(error)) from error


@dataclass
class Site:
    """The state of one server."""

    world: World
    access: Access
    url: str = ""
    page_size: int | None = None
    operations: Operations = field(default_factory=Operations)
    answers: dict[str, Callable[[Site, Call], Answer]] = field(default_factory=dict)
    """POST actions handled outside ARM, by kind: credentials and run-command need a Kubernetes cluster."""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    rule_uses: dict[int, int] = field(default_factory=dict)
    """How often each of the world's write rules was used, by index."""
    deleted: set[str] = field(default_factory=set)
    """Ids of deleted resources: for a recently deleted cluster, the 404 comes from AKS itself."""

    def resource(self, path: str) -> dict[str, Any] | None:
        return self.world.resources.get(path.lower())

    def page(self, call: Call, items: list[Any], *, empty_first: bool = False, paged: bool = True) -> Answer:
        """A list response in the provider's format."""
        namespace = call.place.kind.split("/", 1)[0]
        aks = namespace == "Microsoft.ContainerService"
        if not paged:
            return Answer(200, {"value": items}, aks=aks)
        request = paging.Request(self.url, call.place.path, namespace, call.query, self.page_size)
        return Answer(200, paging.page(request, items, empty_first=empty_first), aks=aks)


Handler = Callable[[Site, Call], Answer]
