"""A fake of Azure's run-command, and sample command output."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.clients.errors import ArmError
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from tests.clients.azure import Handler, LocalAzure, says
from tests.clients_kube.cluster import CLUSTER

RUN = f"{CLUSTER}/runCommand"
RESULT = f"{CLUSTER.group_id}/providers/Microsoft.ContainerService/managedclusters/prod-weu/commandResults"
ALLOWED = KubeAccess(run_command=("Prod-*",))
ROWS = [
    (
        "aks-apps-1-vmss000000\t2026-11-01T10:00:00Z\t\tazure:///subscriptions/x\ttrue\t"
        '[{"key":"sku","value":"gpu","effect":"NoSchedule"}]\tv1.33.2\t16Gi\t13Gi\tapps\tapps\tuser\tAKSUbuntu-2204\t\t\tlinux\tD4\t1\t\t'
        "Ready=Unknown=NodeStatusUnknown=2026-11-18T08:00:00Z=2026-11-18T08:01:00Z,\t"
        "Kubelet stopped posting node status."
    ),
    (
        "aks-apps-1-vmss000001\t2026-11-01T10:00:00Z\t\tazure:///subscriptions/y\t\t\tv1.33.2\t\t\tapps\tapps\tuser\t\t\t\tlinux"
        "\tD4\t2\t\tReady=True=KubeletReady=a=b,Ready=True=KubeletReady=a=b,DiskPressure=True=Full=a=b,\tok\tstill\nok"
    ),
]


FORBIDDEN = (
    'Error from server (Forbidden): nodes is forbidden: User "x" cannot list resource "nodes" in API group "" at the '
    "cluster scope\n"
)


def printed(*rows: str, end: str = "#end\n", code: int = 0, begin: str = "#begin\n") -> Handler:
    logs = begin + "".join(f"@\t{row}\n" for row in rows) + end
    return result(logs=logs, exitCode=code)


def result(state: str = "Succeeded", **more: Any) -> Handler:
    properties = {"provisioningState": state, "startedAt": "x", "finishedAt": "y", **more}
    return says({"id": "300ac3fddbb444308fa05d36a3002ef3", "properties": properties})


class Commands:
    """Azure's run-command: each command has a configured result."""

    def __init__(self, azure: LocalAzure) -> None:
        self._azure = azure
        self.sent: list[dict[str, Any]] = []
        self.results: dict[str, list[Handler]] = {}
        azure.on[RUN.lower()] = [self._run]

    def reply(self, question: Any, *polls: Handler) -> None:
        self.results[question.command] = list(polls)

    async def _run(self, request: Any) -> Any:
        body = await request.json()
        self.sent.append(body)
        link = f"{RESULT}/{len(self.sent):032x}"
        self._azure.on[link.lower()] = self.results.get(body["command"], [says({}, 404)])
        location = f"{self._azure.url}{link}?api-version=2026-08-01"
        return await says({}, 202, location=location)(request)


def name_of(row: Any) -> str:
    return str(row["metadata"]["name"])


async def failure(kube: KubeReader, path: str = "/api/v1/nodes") -> ArmError:
    with pytest.raises(ArmError) as caught:
        await kube.list(path, name_of)
    return caught.value
