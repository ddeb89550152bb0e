"""Every way to sign in, and what is shared between checks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from handlers.clients.arm.reader import ArmReader
from handlers.clients.errors import ArmError, CredentialRefused, Refused
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.door.doors import KubeSessions
from handlers.clients.kube.reader import KubeReader
from handlers.model import Target
from handlers.resource_id import ResourceId
from tests.clients.azure import LocalAzure
from tests.clients_kube.cluster import (
    CREDENTIAL,
    ENTRA_SCOPE,
    EntraCredential,
    LocalCluster,
    credential,
    entra_user,
    page,
    pod,
    written,
)

PODS = "/api/v1/pods"


def name_of(row: Any) -> str:
    return str(row["metadata"]["name"])


async def read(target: Target, arm: ArmReader, doors: KubeSessions) -> tuple[str, ...]:
    """One check."""
    async with KubeReader(target, arm, doors.access, doors=doors) as kube:
        return (await kube.list(PODS, name_of)).items


@pytest.fixture
async def certified(azure: LocalAzure) -> AsyncIterator[LocalCluster]:
    """Accepts client certificates of its CA."""
    local = LocalCluster(certificates=True)
    await local.start()
    azure.reply(CREDENTIAL, credential(local.kubeconfig(local.user_certificate())))
    local.reply(PODS, page(pod("a")))
    yield local
    await local.stop()


@pytest.fixture
async def entra(azure: LocalAzure) -> AsyncIterator[LocalCluster]:
    """Accepts tokens issued for it; one for Azure itself is rejected."""
    local = LocalCluster(tokens={"cluster-1"})
    await local.start()
    azure.reply(CREDENTIAL, credential(local.kubeconfig(entra_user())))
    local.reply(PODS, page(pod("a")))
    yield local
    await local.stop()


@pytest.fixture
async def doors(arm: ArmReader) -> AsyncIterator[KubeSessions]:
    async with KubeSessions(arm, KubeAccess()) as open_ones:
        yield open_ones


async def test_a_local_account_signs_in_with_its_certificate(
    certified: LocalCluster, target: Target, arm: ArmReader, doors: KubeSessions
) -> None:
    assert await read(target, arm, doors) == ("a",)
    assert certified.asked[0].subject == "masterclient"
    assert certified.asked[0].authorization == ""


@pytest.mark.parametrize("user", [entra_user(), {"auth-provider": {"name": "azure", "config": {}}}])
async def test_an_entra_cluster_gets_a_token_for_its_own_audience(
    azure: LocalAzure,
    entra: LocalCluster,
    target: Target,
    arm: ArmReader,
    doors: KubeSessions,
    identity: EntraCredential,
    user: dict[str, Any],
) -> None:
    azure.on[CREDENTIAL.lower()] = [credential(entra.kubeconfig(user))]
    assert await read(target, arm, doors) == ("a",)
    assert entra.asked[0].authorization == "Bearer cluster-1"
    assert azure.asked[0].headers["Authorization"] == "Bearer azure-1"
    assert identity.scopes.count(ENTRA_SCOPE) == 1


async def test_one_token_serves_all_checks(
    entra: LocalCluster, target: Target, arm: ArmReader, doors: KubeSessions, identity: EntraCredential
) -> None:
    await read(target, arm, doors)
    await read(target, arm, doors)
    assert identity.scopes.count(ENTRA_SCOPE) == 1


async def test_a_token_that_is_refused_is_renewed_once(
    entra: LocalCluster, target: Target, arm: ArmReader, doors: KubeSessions
) -> None:
    entra.tokens = {"cluster-2"}
    assert await read(target, arm, doors) == ("a",)
    assert [one.authorization for one in entra.asked] == ["Bearer cluster-1", "Bearer cluster-2"]


async def test_a_token_for_the_wrong_audience_is_refused_and_said_to_be(
    entra: LocalCluster, target: Target, arm: ArmReader, doors: KubeSessions
) -> None:
    entra.tokens = {"azure-1"}
    async with KubeReader(target, arm, KubeAccess(), doors=doors) as kube:
        for _ in range(2):
            with pytest.raises(CredentialRefused, match="401 Unauthorized"):
                await kube.list(PODS, name_of)
    assert len(entra.asked) == 3


async def test_a_context_of_the_clusters_name_goes_first(
    azure: LocalAzure, cluster: LocalCluster, target: Target, arm: ArmReader, tmp_path: Path
) -> None:
    cluster.reply(PODS, page(pod("a")))
    file = written(tmp_path, cluster.kubeconfig({"token": "static-token"}, name="Prod-WEU"))
    async with KubeSessions(arm, KubeAccess(kubeconfig=file)) as doors:
        assert await read(target, arm, doors) == ("a",)
    assert azure.asked == []


async def test_files_in_a_kubeconfig_start_where_it_is(
    certified: LocalCluster, target: Target, arm: ArmReader, tmp_path: Path
) -> None:
    issued = certified.authority.issue_cert(common_name="bot")
    (tmp_path / "bot.crt").write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    (tmp_path / "bot.key").write_bytes(issued.private_key_pem.bytes())
    config = certified.kubeconfig({"client-certificate": "bot.crt", "client-key": "bot.key"})
    async with KubeSessions(arm, KubeAccess(kubeconfig=written(tmp_path, config))) as doors:
        assert await read(target, arm, doors) == ("a",)
    assert certified.asked[0].subject == "bot"


async def test_a_kubeconfig_without_that_context_leaves_it_to_azure(
    azure: LocalAzure, cluster: LocalCluster, target: Target, arm: ArmReader, tmp_path: Path
) -> None:
    cluster.reply(PODS, page(pod("a")))
    file = written(tmp_path, cluster.kubeconfig({"token": "wrong"}, name="dev-shared"))
    async with KubeSessions(arm, KubeAccess(kubeconfig=file)) as doors:
        assert await read(target, arm, doors) == ("a",)
    assert azure.count(CREDENTIAL) == 1


@pytest.mark.parametrize(
    "kind", ["Microsoft.Kubernetes/connectedClusters", "Microsoft.NetworkCloud/kubernetesClusters"]
)
async def test_azure_is_never_asked_for_the_credential_of_what_is_not_aks(
    kind: str, azure: LocalAzure, cluster: LocalCluster, target: Target, arm: ArmReader, tmp_path: Path
) -> None:
    on_site = Target(ResourceId.parse(f"{target.id.group_id}/providers/{kind}/edge-01"))
    file = written(tmp_path, cluster.kubeconfig({"token": "wrong"}, name="dev-shared"))
    access = KubeAccess(kubeconfig=file, run_command=("*",))
    async with KubeSessions(arm, access) as doors, KubeReader(on_site, arm, access, doors=doors) as kube:
        assert await kube.has_context() is False
        with pytest.raises(Refused, match="no context called edge-01 in AKSBOT_KUBECONFIG"):
            await kube.list(PODS, name_of)
    assert azure.asked == []


async def test_a_context_of_its_name_is_the_way_into_what_is_not_aks(
    cluster: LocalCluster, target: Target, arm: ArmReader, tmp_path: Path
) -> None:
    cluster.reply(PODS, page(pod("a")))
    on_site = Target(ResourceId.parse(f"{target.id.group_id}/providers/Microsoft.Kubernetes/connectedClusters/edge-01"))
    file = written(tmp_path, cluster.kubeconfig({"token": "static-token"}, name="Edge-01"))
    async with KubeSessions(arm, KubeAccess(kubeconfig=file)) as doors:
        async with KubeReader(on_site, arm, doors.access, doors=doors) as kube:
            assert await kube.has_context() is True
        assert await read(on_site, arm, doors) == ("a",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "No such file or directory"),
        ("{", "it is not YAML"),
        ("[]", "it is no kubeconfig"),
        ("contexts: [{name: prod-weu}]", "it has no context 'prod-weu'"),
        (
            (
                "{contexts: [{name: prod-weu, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "
                "'http://x'}}], users: [{name: u, user: {token: t}}]}"
            ),
            "its server is no https address",
        ),
        (
            (
                "{contexts: [{name: prod-weu, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "
                "'https://x'}}], users: [{name: u, user: {exec: {command: /usr/bin/aws-iam}}}]}"
            ),
            "it signs in by running aws-iam, which aksbot does not do",
        ),
        (
            (
                "{contexts: [{name: prod-weu, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "
                "'https://x'}}], users: [{name: u, user: {}}]}"
            ),
            "no certificate, no token and no Entra sign-in",
        ),
        (
            (
                "{contexts: [{name: prod-weu, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: "
                "'https://x', certificate-authority-data: '%'}}], users: [{name: u, user: {token: t}}]}"
            ),
            "its certificate-authority-data is not base64",
        ),
    ],
)
async def test_a_kubeconfig_that_cannot_be_used_is_said_to_be_one(
    azure: LocalAzure, target: Target, arm: ArmReader, tmp_path: Path, content: str | None, why: str
) -> None:
    file = tmp_path / "config"
    if content is not None:
        file.write_text(content)
    async with KubeSessions(arm, KubeAccess(kubeconfig=file)) as doors:
        with pytest.raises(Refused, match="AKSBOT_KUBECONFIG") as caught:
            await read(target, arm, doors)
    assert why in caught.value.detail
    assert azure.asked == []


async def test_checks_share_one_connection(
    cluster: LocalCluster, azure: LocalAzure, target: Target, arm: ArmReader, doors: KubeSessions
) -> None:
    cluster.reply(PODS, page(pod("a")))
    for _ in range(3):
        await read(target, arm, doors)
    assert len({one.port for one in cluster.asked}) == 1
    assert azure.count(CREDENTIAL) == 1


async def test_a_kept_credential_that_was_rotated_is_asked_for_again(
    cluster: LocalCluster, azure: LocalAzure, target: Target, arm: ArmReader, doors: KubeSessions
) -> None:
    cluster.reply(PODS, page(pod("a")))
    await read(target, arm, doors)
    cluster.tokens = {"rotated"}
    azure.on[CREDENTIAL.lower()] = [credential(cluster.kubeconfig({"token": "rotated"}))]
    assert await read(target, arm, doors) == ("a",)
    assert azure.count(CREDENTIAL) == 2


async def test_a_cluster_made_anew_is_found_though_its_old_address_was_kept(
    cluster: LocalCluster, azure: LocalAzure, target: Target, arm: ArmReader, doors: KubeSessions
) -> None:
    cluster.reply(PODS, page(pod("a")))
    await read(target, arm, doors)
    await cluster.stop()
    with pytest.raises(ArmError, match="connection refused"):
        await read(target, arm, doors)
    await cluster.start()
    azure.on[CREDENTIAL.lower()] = [credential(cluster.kubeconfig({"token": "static-token"}))]
    assert await read(target, arm, doors) == ("a",)


async def test_a_kept_authority_that_was_rotated_is_asked_for_again(
    cluster: LocalCluster, azure: LocalAzure, target: Target, arm: ArmReader, doors: KubeSessions
) -> None:
    cluster.reply(PODS, page(pod("a")))
    await read(target, arm, doors)
    other = LocalCluster(tokens={"static-token"})
    other.reply(PODS, page(pod("b")))
    await other.start()
    stale = await doors.enter(target)
    object.__setattr__(stale.entrance, "server", other.url)
    azure.on[CREDENTIAL.lower()] = [credential(other.kubeconfig({"token": "static-token"}))]
    assert await read(target, arm, doors) == ("b",)
    await doors.leave(target, stale)
    await other.stop()


async def test_an_old_credential_is_asked_for_again(
    cluster: LocalCluster, azure: LocalAzure, target: Target, arm: ArmReader
) -> None:
    cluster.reply(PODS, page(pod("a")))
    async with KubeSessions(arm, KubeAccess(), fresh_for_s=-1) as doors:
        await read(target, arm, doors)
        await read(target, arm, doors)
    assert azure.count(CREDENTIAL) == 2


async def test_no_key_shows_in_what_is_printed_of_an_entrance(
    certified: LocalCluster, target: Target, doors: KubeSessions
) -> None:
    door = await doors.enter(target)
    assert "PRIVATE KEY" not in repr(door.entrance)
    assert "certificate" not in repr(door.entrance)
    await doors.leave(target, door)
