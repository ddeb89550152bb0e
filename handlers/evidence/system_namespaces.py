"""The namespaces in which AKS runs pods of its own. From the cluster's profile: what is off has no namespace."""

from __future__ import annotations

from typing import Any

from handlers.evidence import addons
from handlers.evidence.wire import dig, text

KUBE_SYSTEM = "kube-system"
SYSTEM_NAMESPACE = f"Namespace/{KUBE_SYSTEM}"
"""The subject of what concerns all that AKS runs in a cluster."""
CALICO = ("calico-system", "tigera-operator")
ALWAYS_THE_SYSTEMS = frozenset({KUBE_SYSTEM, *CALICO})
"""Whoever installed Calico: pods have no network without it."""


def system_namespaces_of(properties: Any) -> tuple[str, ...]:
    """Those that this cluster has, kube-system first."""
    found = [KUBE_SYSTEM]
    if text(properties, "networkProfile", "networkPolicy").lower() == "calico":
        found += CALICO
    if addons.is_on(properties, "azurepolicy"):
        found.append("gatekeeper-system")
    if dig(properties, "ingressProfile", "webAppRouting", "enabled") is True:
        found.append("app-routing-system")
    if text(properties, "serviceMeshProfile", "mode").lower() == "istio":
        found.append("aks-istio-system")
    return tuple(found)
