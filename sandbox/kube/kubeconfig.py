"""The kubeconfigs that AKS returns: with a client certificate, or with an exec plugin for Entra tokens."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from sandbox.kube.identity import SERVER_ID
from sandbox.kube.tls import ClientCertificate

Body = dict[str, Any]

_CLIENT_ID = "80faf920-1908-4b52-b5ef-a8e7bedfc67a"
"""The client application with which `kubectl` signs users in."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The cluster entry of a kubeconfig."""

    name: str
    group: str
    url: str
    ca: bytes


def with_certificate(cluster: Cluster, role: str, certificate: ClientCertificate) -> str:
    """For a local account: `clusterUser` or `clusterAdmin`."""
    user = {
        "client-certificate-data": _encoded(certificate.certificate),
        "client-key-data": _encoded(certificate.key),
    }
    return _kubeconfig(cluster, role, user)


def with_entra(cluster: Cluster, role: str, tenant: str) -> str:
    """For Entra: no secret, only the exec plugin that gets a token."""
    call = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "kubelogin",
        "args": [
            "get-token",
            "--environment",
            "AzurePublicCloud",
            "--server-id",
            SERVER_ID,
            "--client-id",
            _CLIENT_ID,
            "--tenant-id",
            tenant,
            "--login",
            "devicecode",
        ],
        "env": None,
        "installHint": "\nkubelogin is not installed which is required to connect to AAD enabled cluster.\n\nTo learn "
        "more, please go to https://aka.ms/aks/kubelogin\n",
        "provideClusterInfo": False,
    }
    return _kubeconfig(cluster, role, {"exec": call})


def with_token(cluster: Cluster, role: str, token: str) -> str:
    """With a fixed token: AKS never returns this, but `kubectl` supports it."""
    return _kubeconfig(cluster, role, {"token": token})


def joined(texts: Iterable[str]) -> str:
    """Merge several kubeconfigs; the first one's context is the current one."""
    parts: list[Body] = [yaml.safe_load(text) for text in texts]
    whole: Body = {"apiVersion": "v1", "kind": "Config", "preferences": {}}
    for section in ("clusters", "contexts", "users"):
        whole[section] = [row for part in parts for row in part[section]]
    whole["current-context"] = parts[0]["current-context"] if parts else ""
    return yaml.safe_dump(whole, sort_keys=False)


def _kubeconfig(cluster: Cluster, role: str, user: Body) -> str:
    context = f"{cluster.name}-admin" if role == "clusterAdmin" else cluster.name
    user_name = f"{role}_{cluster.group}_{cluster.name}"
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "preferences": {},
            "clusters": [
                {
                    "name": cluster.name,
                    "cluster": {"certificate-authority-data": _encoded(cluster.ca), "server": cluster.url},
                }
            ],
            "contexts": [{"name": context, "context": {"cluster": cluster.name, "user": user_name}}],
            "current-context": context,
            "users": [{"name": user_name, "user": user}],
        },
        sort_keys=False,
    )


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()
