"""Long-running operations: each poll advances to the next status, and the last one completes. There are no delays."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sandbox.arm import errors
from sandbox.arm.answers import Answer
from sandbox.arm.paths import parse
from sandbox.arm.protocols import EXTENSIONS, LongOperation, stamp

if TYPE_CHECKING:
    from sandbox.arm.site import Call, Site

Body = dict[str, Any]
TERMINAL = ("Succeeded", "Failed", "Canceled")

_CERTIFICATE = "".join(hashlib.sha256(f"certificate {n}".encode()).hexdigest() for n in range(44))
"""Placeholder for the certificate in a signed URL, which makes the URL about 3,000 characters long."""


@dataclass
class Operation:
    """One long-running write."""

    subject: str
    subscription: str
    group: str | None
    location: str
    verb: str
    protocol: LongOperation
    version: str
    interim: list[str]
    ends: str = "Succeeded"
    error: Body | None = None
    finish: Callable[[Operation], None] = lambda _: None
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    status: str = "InProgress"
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended: datetime | None = None
    polls: int = 0
    signed: int = 0
    signatures: set[str] = field(default_factory=set)

    @property
    def done(self) -> bool:
        return self.status in TERMINAL

    def advance(self) -> None:
        """Advance by one poll."""
        if self.done:
            return
        self.polls += 1
        if self.interim:
            self.status = self.interim.pop(0)
        else:
            self.end(self.ends, self.error)

    def end(self, status: str, error: Body | None = None) -> None:
        self.status, self.error, self.ended = status, error, datetime.now(UTC)
        self.finish(self)

    def status_url(self, base: str) -> str:
        return self._signed(base + self.protocol.status_path(self))

    def result_url(self, base: str) -> str:
        if self.protocol is EXTENSIONS:
            # The real provider puts its own internal host here. It is unreachable, and clients do not need it.
            host = f"https://{self.location}.rp.kubernetesconfiguration.azure.com"
            return self._signed(host + self.protocol.status_path(self))
        path = (self.protocol.result_path or self.protocol.status_path)(self)
        return self._signed(base + path, monitor=self.protocol.name == "Microsoft.Compute")

    def _signed(self, url: str, *, monitor: bool = False) -> str:
        """Sign a polling URL; it is only accepted unmodified."""
        self.signed += 1
        ticks = 638_000_000_000_000_000 + int(self.started.timestamp() * 1_000_000) + self.signed
        seal = hashlib.sha256(f"{self.id}{self.signed}".encode()).hexdigest()[:43]
        self.signatures.add(seal)
        extra = f"p={uuid.uuid5(uuid.NAMESPACE_URL, self.id)}&" if self.protocol.name == "Microsoft.Compute" else ""
        if monitor:
            extra += "monitor=true&"
        version = self.protocol.version or self.version
        return f"{url}?{extra}api-version={version}&t={ticks}&c={_CERTIFICATE}&s=MIIC{seal}&h={seal}"


class Operations:
    """All operations of one server."""

    def __init__(self) -> None:
        self._known: dict[str, Operation] = {}

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._known.values())

    def start(self, operation: Operation) -> Operation:
        self._known[operation.protocol.status_path(operation).rsplit("/", 1)[1].lower()] = operation
        return operation

    def find(self, name: str) -> Operation | None:
        return self._known.get(name.lower())

    def running(self, above: str, namespace: str | None = None) -> Operation | None:
        """An unfinished operation on this resource or below it."""
        scope = above.lower()
        for operation in self._known.values():
            subject = operation.subject.lower()
            mine = subject == scope or subject.startswith(scope + "/")
            if mine and not operation.done and namespace in (None, operation.protocol.name):
                return operation
        return None

    def finish_all(self) -> None:
        """Complete every operation without polling."""
        for operation in list(self._known.values()):
            while not operation.done:
                operation.advance()


def first_headers(operation: Operation, base: str, *, location: bool) -> dict[str, str]:
    """The headers of the first response, which tell the client where to poll."""
    protocol = operation.protocol
    headers = {}
    if protocol.name != "Microsoft.Resources":
        headers["Azure-AsyncOperation"] = operation.status_url(base)
    if location or protocol.puts_have_location:
        headers["Location"] = operation.result_url(base)
    if protocol.first_wait_s is not None:
        headers["Retry-After"] = str(protocol.first_wait_s)
    return headers


def _found(site: Site, call: Call) -> Operation:
    operation = site.operations.find(call.place.name or call.place.path.rsplit("/", 1)[1])
    if operation is None:
        raise errors.wrapped(404, "NotFound", f"The operation '{call.place.name}' was not found.")
    if call.query.get("h") not in operation.signatures:
        raise errors.gateway(400, "InvalidOperationUrl", "The signature of the operation URL is not valid.")
    return operation


def poll_operation(site: Site, call: Call) -> Answer:
    """The status of an operation (or, with Compute's `monitor=true`, its result)."""
    if call.query.get("monitor") == "true":
        return poll_result(site, call)
    operation = _found(site, call)
    operation.advance()
    protocol = operation.protocol
    running = not operation.done
    status = 202 if running and protocol.accepted_while_running else 200
    headers = _wait(operation)
    if status == 202:
        headers |= {"Location": operation.result_url(site.url)}
        if protocol.name != "Microsoft.Resources":
            headers["Azure-AsyncOperation"] = operation.status_url(site.url)
    return Answer(status, protocol.status_body(operation), headers, aks=protocol.aks)


def poll_result(site: Site, call: Call) -> Answer:
    """Polling the Location URL: 202 with a newly signed Location while running, then 204 or 200."""
    operation = _found(site, call)
    operation.advance()
    protocol = operation.protocol
    if not operation.done:
        headers = _wait(operation) | {"Location": operation.result_url(site.url)}
        if protocol.aks:
            body = {"name": operation.id, "status": operation.status, "progress": 0.0, "etag": operation.id[:8]}
            return Answer(202, body | {"leasedUntil": stamp(operation.started)}, headers, aks=True)
        return Answer(202, headers=headers)
    if operation.status != "Succeeded":
        error = operation.error or {"code": operation.status, "message": "The operation did not succeed."}
        return Answer(400, error if protocol.aks else {"error": error}, aks=protocol.aks)
    return Answer(protocol.result_done)


def _wait(operation: Operation) -> dict[str, str]:
    seconds = None if operation.done else operation.protocol.poll_wait_s(operation)
    return {} if seconds is None else {"Retry-After": str(seconds)}


def location_of(resources: dict[str, Body], path: str) -> str:
    """The region of an operation: that of the resource, its parent or its resource group."""
    at = path.lower()
    while at.count("/") >= 4:
        body = resources.get(at)
        if body and body.get("location"):
            return str(body["location"]).lower().replace(" ", "")
        at = at.rsplit("/", 1)[0]
    place = parse(path)
    group = resources.get(f"/subscriptions/{place.subscription}/resourcegroups/{place.group}".lower(), {})
    return str(group.get("location", "westeurope"))
