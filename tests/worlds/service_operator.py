"""Azure Service Operator in a generated cluster, at its usual work: nothing here is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from tests.worlds.ids import Body, stamp

_KINDS = {
    "ResourceGroup": ("resources.azure.com", "resourcegroups"),
    "Redis": ("cache.azure.com", "redis"),
    "RedisLinkedServer": ("cache.azure.com", "redislinkedservers"),
}


def operator_bodies() -> Iterator[Body]:
    """A resource that is Ready, one that Azure is still making, one that waits for that, one that is seconds old."""
    for kind, (group, plural) in _KINDS.items():
        yield _definition(kind, group, plural)
    yield _resource("ResourceGroup", "rg-shop", "True", "Succeeded", timedelta(days=20))
    yield _resource("Redis", "cache", "False", "Reconciling", timedelta(minutes=17), severity="Info", owner="rg-shop")
    yield _resource(
        *("RedisLinkedServer", "cache-west", "False", "WaitingForOwner", timedelta(minutes=17)),
        severity="Warning",
        owner="cache",
        message='Owner "cache, Group/Kind: cache.azure.com/Redis" cannot be found. Progress is blocked until the owner '
        "is created.",
    )
    yield _resource("Redis", "sessions", "", "", timedelta(seconds=4), owner="rg-shop")


def _definition(kind: str, group: str, plural: str) -> Body:
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "labels": {"app.kubernetes.io/name": "azure-service-operator"}},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": [
                {"name": "v1api20240901", "served": True, "storage": False, "schema": schema},
                {"name": "v1api20240901storage", "served": True, "storage": True, "schema": schema},
            ],
        },
    }


def _resource(kind: str, name: str, status: str, reason: str, age: timedelta, **more: str) -> Body:
    ready = {"type": "Ready", "status": status, "reason": reason, "observedGeneration": 1}
    ready |= {key: more[key] for key in ("severity", "message") if key in more}
    return {
        "apiVersion": f"{_KINDS[kind][0]}/v1api20240901",
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop", "generation": 1, "creationTimestamp": stamp(age)},
        "spec": {"owner": {"name": more["owner"]}} if "owner" in more else {},
        "status": {"conditions": [ready | {"lastTransitionTime": stamp(age)}]} if status else {},
    }
