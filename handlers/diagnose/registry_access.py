"""What Azure says of a registry that refuses a pull: the role of the kubelets' identity, and the registry's network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from handlers.evidence.registries import ABAC, Grant, Registries, Registry, SeenRegistry
from handlers.model import NotApplicable, Unavailable
from runbooks.linear import compile_linear

_CLIENT = compile_linear(r"client with IP '?(?P<address>[0-9a-fA-F.:]{7,45})")
"""Azure Container Registry's firewall names the address that it refused."""


@dataclass(frozen=True, slots=True)
class Access:
    """What the page of a failed pull is filled with."""

    state: str = ""
    """missing, not-honoured, held, unseen, address, private; empty where Azure has nothing to do with it."""
    told: tuple[str, ...] = ()
    registry: Registry | None = None
    identity: str = ""
    client: str = ""


def access(cause: str, host: str, message: str, seen: Registries | Unavailable | NotApplicable) -> Access:
    if isinstance(seen, NotApplicable) or cause not in ("unauthorized", "network"):
        return Access()
    if isinstance(seen, Unavailable):
        return Access("unseen", (f"whether the kubelets may pull there was not seen: {seen}",))
    at = seen.at(host)
    if at is None:
        return Access()
    return _of_role(at, seen.identity) if cause == "unauthorized" else _of_network(at, message)


def _of_role(at: SeenRegistry, identity: str) -> Access:
    registry = at.registry
    if registry is None or at.unseen:
        return Access("unseen", (f"whether the kubelets may pull there was not seen: {at.unseen}",), registry, identity)
    may = at.may_pull()
    held = ", ".join(f"{grant.role} at {grant.scope}" for grant in at.grants) or "no role there or above"
    told = f"Azure: the kubelets' identity {identity} has {held}"
    if may is False:
        ignored = [grant.role for grant in at.grants if _is_ignored(grant, registry)]
        state = "not-honoured" if ignored else "missing"
        return Access(state, (told, _why(registry, ignored)), registry, identity)
    if may:
        return Access("held", (told, "it may pull: the image or a pull secret is what is wrong"), registry, identity)
    return Access("unseen", (told, "whether these let it pull is not known here"), registry, identity)


def _is_ignored(grant: Grant, registry: Registry) -> bool:
    return registry.mode == ABAC and bool(grant.pulls) and ABAC not in (grant.pulls or ())


def _why(registry: Registry, ignored: list[str]) -> str:
    if ignored:
        roles = ", ".join(dict.fromkeys(ignored))
        return f"registry {registry.name} assigns roles by repository (ABAC), and takes no notice of {roles}"
    return f"registry {registry.name} wants {registry.role}"


def _of_network(at: SeenRegistry, message: str) -> Access:
    registry = at.registry
    if registry is None:
        return Access("unseen", (f"the registry's network rules were not seen: {at.unseen}",))
    found = _CLIENT.search(message)
    client = found["address"].rstrip(".") if found else ""
    if not registry.public:
        return Access("private", tuple(_private(registry)), registry, client=client)
    # Its firewall answers, naming the address that it refuses: a timeout is the nodes' own way, or a private endpoint.
    if client and registry.allowed is not None and not _lets_in(registry.allowed, client):
        ranges = ", ".join(registry.allowed[:5]) or "no address"
        told = f"Azure: registry {registry.name} lets in {ranges}, and {client} is not among them"
        return Access("address", (told,), registry, client=client)
    return Access(registry=registry, client=client)


def _private(registry: Registry) -> Iterator[str]:
    yield f"Azure: registry {registry.name} has its public access disabled: only private endpoints lead to it"
    yield f"its private endpoints: {', '.join(registry.endpoints) or 'none is approved'}"


def _lets_in(ranges: tuple[str, ...], client: str) -> bool:
    try:
        return any(ip_address(client) in ip_network(one, strict=False) for one in ranges)
    except ValueError:
        return False
