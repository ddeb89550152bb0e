"""The settings for reaching a cluster's API server."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

PROBE_IMAGE = "mcr.microsoft.com/azurelinux/base/python:3.12"
"""What a probe pod is made from. No image that AKS nodes hold already has a client that one could rely on; the Azure
CLI's is ten times as large, and has come without curl more than once. Every node pulls from this registry."""
OF_AZURE = "Microsoft.ContainerService/managedClusters"
"""The clusters whose credential Azure hands out, and where it runs commands; into others only a kubeconfig leads."""
CONNECT_S = 3.0
"""A server that can be reached answers in a fraction of this; a private one never does."""


@dataclass(frozen=True, slots=True)
class KubeAccess:
    """`run_command`: globs of the clusters where run-command is allowed as a fallback.

    `run_command_token` is passed with a command on Entra clusters; without it the bot's own identity fetches one.
    """

    kubeconfig: Path | None = None
    run_command: tuple[str, ...] = ()
    run_command_token: str | None = field(default=None, repr=False)
    connect_s: float = CONNECT_S
    probe_image: str = PROBE_IMAGE
    own_addresses: tuple[str, ...] = ()
    """The public addresses that the bot itself leaves from: an API server with authorized ranges must hold them."""
    pod_proxy: tuple[str, ...] = ()
    """Globs of `cluster/namespace` whose pods may be asked, through the API server, whether they listen."""

    def may_run_commands(self, cluster: str) -> bool:
        return any(fnmatchcase(cluster.lower(), glob.lower()) for glob in self.run_command)

    def may_ask_pods(self, cluster: str, namespace: str) -> bool:
        place = f"{cluster.lower()}/{namespace}"
        return any(fnmatchcase(place, glob.lower() if "/" in glob else f"*/{glob.lower()}") for glob in self.pod_proxy)
