"""Addresses as people write them into an environment: which host, which port, which service of the cluster."""

from __future__ import annotations

from dataclasses import dataclass

from handlers.evidence.workloads.services import Services, WorkloadService
from runbooks.linear import compile_linear

_ADDRESS = compile_linear(
    r"^(?:(?P<scheme>[a-z][a-z0-9+.:-]*)://)?(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)(?::(?P<port>[0-9]{1,5}))?(?:[/?#].*)?$"
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a value leads."""

    host: str
    port: int

    @property
    def text(self) -> str:
        return f"{self.host}:{self.port}" if self.port else self.host


def read_address(value: str) -> Address | None:
    """The address in a value; None where it is none. A bare number or word is no address here."""
    found = _ADDRESS.match(value)
    if not found:
        return None
    host, port = found["host"], int(found["port"] or 0)
    return Address(host, port) if port or found["scheme"] or "." in host else None


def service_name(host: str, namespace: str) -> tuple[str, str] | None:
    """(namespace, name) of the service that a host names in the cluster's own DNS; None for a name outside of it."""
    parts = host.rstrip(".").split(".")
    if host.replace(".", "").isdigit() or parts[0] == "localhost":
        return None
    if len(parts) == 1:
        return namespace, parts[0]
    if parts[2:] in ([], ["svc"], ["svc", "cluster", "local"]):
        return (parts[1], parts[0]) if len(parts) > 2 else None
    return None


def named_service(host: str, namespace: str, services: Services) -> WorkloadService | None:
    """The service that a host leads to, by its name or its address."""
    by_address = next((service for service in services.services if host and service.address == host), None)
    if by_address:
        return by_address
    parts = host.split(".")
    if len(parts) == 2:  # `cart.shop` may be a service of another namespace, or a name outside
        return services.named(parts[1], parts[0])
    where = service_name(host, namespace)
    return services.named(*where) if where else None
