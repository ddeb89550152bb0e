"""A kubeconfig from Azure cannot weaken security settings; a user's own file can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import Garbled
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.model import Target, Why
from tests.clients.azure import LocalAzure, QuickClock, says
from tests.clients_kube.cluster import CREDENTIAL, LocalCluster, credential, page, pod, written
from tests.clients_kube.cluster import packed as in_base64

PODS = "/api/v1/pods"
OWN_FILE = "give aksbot a kubeconfig of your own for this cluster (AKSBOT_KUBECONFIG)"


def changed(cluster: LocalCluster, **changes: Any) -> dict[str, Any]:
    """The cluster's kubeconfig with other facts about its server; `proxy_url` is `proxy-url`."""
    config = cluster.kubeconfig({"token": "static-token"})
    config["clusters"][0]["cluster"] |= {name.replace("_", "-"): value for name, value in changes.items()}
    return config


async def read(kube: KubeReader) -> tuple[str, ...]:
    return (await kube.list(PODS, lambda row: str(row["metadata"]["name"]))).items


async def why_not(azure: LocalAzure, kube: KubeReader, config: dict[str, Any]) -> str:
    azure.on[CREDENTIAL.lower()] = [credential(config)]
    with pytest.raises(Garbled) as caught:
        await read(kube)
    assert caught.value.unavailable.why is Why.FAILED
    return caught.value.detail


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"insecure_skip_tls_verify": True}, "it switches off the check of the server's certificate"),
        ({"insecure_skip_tls_verify": "true"}, "it switches off the check of the server's certificate"),
        ({"proxy_url": "http://127.0.0.1:9"}, "it names a proxy (proxy-url)"),
        ({"proxy_url": ["http://127.0.0.1:9"]}, "it names a proxy (proxy-url)"),
        ({"tls_server_name": "localhost"}, "it has the server's certificate checked for another name"),
    ],
)
async def test_azures_kubeconfig_may_loosen_nothing(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader, changes: dict[str, Any], why: str
) -> None:
    cluster.reply(PODS, page(pod("a")))
    told = await why_not(azure, kube, changed(cluster, **changes))
    assert why in told
    assert OWN_FILE in told
    assert cluster.asked == []


async def test_azure_may_say_that_nothing_is_loosened(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader
) -> None:
    cluster.reply(PODS, page(pod("a")))
    config = changed(cluster, insecure_skip_tls_verify=False, proxy_url="", tls_server_name=None)
    azure.on[CREDENTIAL.lower()] = [credential(config)]
    assert await read(kube) == ("a",)


async def test_a_persons_own_kubeconfig_may_leave_the_certificate_unchecked(
    cluster: LocalCluster, target: Target, arm: ArmReader, clock: QuickClock, tmp_path: Path
) -> None:
    cluster.reply(PODS, page(pod("a")))
    config = changed(cluster, insecure_skip_tls_verify=True)
    del config["clusters"][0]["cluster"]["certificate-authority-data"]
    access = KubeAccess(kubeconfig=written(tmp_path, config))
    async with KubeReader(target, arm, access, clock=clock) as kube:
        assert await read(kube) == ("a",)


@pytest.mark.parametrize(
    "server",
    [
        "http://127.0.0.1",
        "https://",
        "https://[",
        "https://host:99999",
        "https://host:port",
        "https://host:0",
        "ftp://host",
        "//host",
    ],
)
async def test_a_server_that_is_no_https_address_is_refused(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader, server: str
) -> None:
    assert "its server is no https address" in await why_not(azure, kube, changed(cluster, server=server))


@pytest.mark.parametrize(
    "server",
    [
        "https://me:secret@host",
        "https://host?to=",
        "https://host#",
        "https://host/ ",
        "https://host\\@other",
        "https://ho\nst",
        "https://hóst",
    ],
)
async def test_a_server_that_holds_more_than_an_address_is_refused_without_repeating_it(
    azure: LocalAzure, cluster: LocalCluster, kube: KubeReader, server: str
) -> None:
    told = await why_not(azure, kube, changed(cluster, server=server))
    assert told.endswith("its server is more than the address of a server")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: &key [1]\nb: *key", "an alias (`*name`) is not read here"),
        ("[" * 400_000, "it is nested more than 50 levels deep"),
        ("- a\n" * 30_000, "it holds more than 20000 values"),
        ("a: " + "x " * 499_000, "it has more than 512000 bytes"),
        ("a: 2026-02-30", "it looks like a value of type timestamp and is none"),
    ],
)
async def test_a_kubeconfig_that_unfolds_is_refused(azure: LocalAzure, kube: KubeReader, text: str, why: str) -> None:
    azure.reply(CREDENTIAL, says({"kubeconfigs": [{"name": "clusterUser", "value": in_base64(text.encode())}]}))
    with pytest.raises(Garbled) as caught:
        await read(kube)
    assert why in caught.value.detail
