"""Containers that do not start: images, configuration, volumes."""

from datetime import timedelta
from typing import Any

import pytest

from bot.render.headline import facts_of
from handlers.model import Finding, Outcome
from tests.checking import LIBRARY
from tests.handlers.diagnose.bodies import at
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import POD, Unwell
from tests.handlers.diagnose.wire import asked, diagnosed, found

IMAGE, CONFIG, UNBOUND, MOUNT = "image-pull-failed", "config-missing", "volume-unbound", "volume-mount-failed"
PULL = 'failed to pull and unpack image "registry.example.com/web:4.2.1": failed to resolve reference: '


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("registry.example.com/web:4.2.1: not found", "reference"),
        ("unexpected status from HEAD request to https://registry.example.com: 401 Unauthorized", "unauthorized"),
        ("failed to do request: Head: dial tcp: lookup registry.example.com on 168.63.129.16:53: no such host", "dns"),
        ("failed to do request: Head: dial tcp 20.1.2.3:443: i/o timeout", "network"),
        ("403 Forbidden: client with IP '20.4.5.6' is not allowed access", "network"),
        ("something that nobody has seen", "unknown"),
    ],
)
async def test_an_image_that_is_not_pulled_is_found_with_the_kubelets_reason(told: str, cause: str) -> None:
    finding = await found(IMAGE, Unwell().waits_for("ErrImagePull", PULL + told))
    assert (finding.subject, finding.facts["cause"]) == ("shop/Deployment/web", cause)
    assert "image registry.example.com/web:4.2.1" in finding.because


TOKEN = "failed to authorize: failed to fetch anonymous token: "
GET = 'Get "https://auth.docker.io/token?scope=repository%3Alibrary%2Fnginx%3Apull": '


@pytest.mark.parametrize("image", ["nginx:1.27", "acme/web:1", "contoso.azurecr.io/web:4.2.1"])
@pytest.mark.parametrize(
    "told",
    [
        f"{GET}dial tcp 54.198.86.24:443: i/o timeout",
        f"{GET}dial tcp 54.198.86.24:443: connect: connection refused",
        f"{GET}read tcp 10.224.0.4:40112->54.198.86.24:443: read: connection reset by peer",
        f"{GET}net/http: TLS handshake timeout",
        f"{GET}tls: failed to verify certificate: x509: certificate signed by unknown authority",
        f"{GET}EOF",
        "unexpected status: 503 Service Unavailable",
        "unexpected status from GET request to https://auth.docker.io/token: 429 Too Many Requests",
    ],
)
async def test_a_login_that_nobody_answered_is_no_refusal_and_no_missing_image(image: str, told: str) -> None:
    finding = await found(IMAGE, Unwell(image=image).waits_for("ErrImagePull", PULL + TOKEN + told))
    assert finding.facts["cause"] == "network"
    assert not any("are public" in line for line in finding.because)


async def test_a_login_whose_server_has_no_name_is_dns() -> None:
    told = f"{GET}dial tcp: lookup auth.docker.io on 168.63.129.16:53: read udp 10.224.0.4:40112: i/o timeout"
    finding = await found(IMAGE, Unwell(image="nginx:1.27").waits_for("ErrImagePull", PULL + TOKEN + told))
    assert finding.facts["cause"] == "dns"


async def test_a_login_that_the_registry_refuses_stays_a_refusal() -> None:
    told = f"{TOKEN}unexpected status from GET request to https://contoso.azurecr.io/oauth2/token: 401 Unauthorized"
    finding = await found(IMAGE, Unwell(image="contoso.azurecr.io/web:1").waits_for("ErrImagePull", told))
    assert finding.facts["cause"] == "unauthorized"


async def test_a_token_that_is_not_fetched_for_no_said_reason_proves_no_missing_image() -> None:
    finding = await found(IMAGE, Unwell(image="nginx:1.27").waits_for("ErrImagePull", PULL + TOKEN))
    assert finding.facts["cause"] == "unauthorized"


MIRROR = "unexpected status from HEAD request to https://mirror.example.com/v2/library/redsi/manifests/7?ns=docker.io: "


@pytest.mark.parametrize("image", ["redsi:7", "library/redsi:7", "docker.io/library/redsi:7"])
@pytest.mark.parametrize("told", [f"{MIRROR}403 Forbidden", "insufficient_scope: authorization failed"])
async def test_an_image_that_needs_no_login_and_is_refused_does_not_exist(image: str, told: str) -> None:
    finding = await found(IMAGE, Unwell(image=image).waits_for("ErrImagePull", told))
    assert finding.facts["cause"] == "reference"
    assert finding.because[-1].startswith("images of docker.io/library are public")


@pytest.mark.parametrize("image", ["acme/redis:7", "docker.io/acme/redis:7", "registry.example.com/redis:7"])
async def test_an_image_of_an_organization_may_need_a_login(image: str) -> None:
    finding = await found(IMAGE, Unwell(image=image).waits_for("ErrImagePull", f"{MIRROR}403 Forbidden"))
    assert finding.facts["cause"] == "unauthorized"


async def test_a_wrong_login_is_refused_for_a_public_image_too() -> None:
    unwell = Unwell(image="redis:7").waits_for("ErrImagePull", "401 Unauthorized: incorrect username or password")
    assert (await found(IMAGE, unwell)).facts["cause"] == "unauthorized"
    unwell = Unwell(image="redis:7")
    unwell.template["imagePullSecrets"] = [{"name": "hub"}]
    unwell.waits_for("ErrImagePull", f"{MIRROR}403 Forbidden")
    assert (await found(IMAGE, unwell)).facts["cause"] == "unauthorized"


async def test_while_the_kubelet_backs_off_its_last_try_says_why() -> None:
    unwell = Unwell().waits_for("ImagePullBackOff", 'Back-off pulling image "registry.example.com/web:4.2.1"')
    unwell.warned("Pod", POD, "Failed", f"Failed to pull image: {PULL}not found")
    assert (await found(IMAGE, unwell)).facts["cause"] == "reference"


async def test_a_pull_secret_that_does_not_exist_is_the_cause_of_the_refusal() -> None:
    unwell = Unwell().waits_for("ErrImagePull", PULL + "401 Unauthorized")
    told = "Unable to retrieve some image pull secrets (acr-login); attempting to pull the image may not succeed."
    unwell.warned("Pod", POD, "FailedToRetrieveImagePullSecret", told)
    finding = await found(IMAGE, unwell)
    assert (finding.facts["cause"], finding.facts["secrets"]) == ("pull-secret", "acr-login")


async def test_a_container_that_runs_by_now_has_its_image() -> None:
    unwell = Unwell().stands({"running": {"startedAt": at(timedelta(minutes=9))}}, ready=True)
    unwell.warned("Pod", POD, "Failed", f"Failed to pull image: {PULL}not found")
    assert (await asked(IMAGE, unwell)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("message", "kind", "name", "key"),
    [
        ('secret "web-db" not found', "Secret", "web-db", ""),
        ('configmap "web" not found', "ConfigMap", "web", ""),
        ("couldn't find key HOST in ConfigMap shop/web", "ConfigMap", "web", "HOST"),
        ("couldn't find key password in Secret shop/web-db", "Secret", "web-db", "password"),
    ],
)
async def test_what_a_container_names_and_nobody_has_is_found(message: str, kind: str, name: str, key: str) -> None:
    finding = await found(CONFIG, Unwell().waits_for("CreateContainerConfigError", message))
    assert (finding.facts["kind"], finding.facts["name"], finding.facts["key"]) == (kind, name, key)


async def test_a_volume_of_a_missing_config_map_is_found_and_is_no_failed_mount() -> None:
    unwell = Unwell().waits_for("ContainerCreating")
    told = 'MountVolume.SetUp failed for volume "settings" : configmap "web" not found'
    unwell.warned("Pod", POD, "FailedMount", told)
    assert (await found(CONFIG, unwell)).facts["name"] == "web"
    assert (await asked(MOUNT, unwell)).outcome is Outcome.CLEAR


async def test_a_container_that_waits_for_something_else_lacks_no_configuration() -> None:
    unwell = Unwell().waits_for("CreateContainerConfigError", "container has runAsNonRoot and image will run as root")
    assert (await asked(CONFIG, unwell)).outcome is Outcome.CLEAR


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        (
            'Multi-Attach error for volume "pvc-1" Volume is already exclusively attached to one node',
            "attached-elsewhere",
        ),
        ("MountVolume.MountDevice failed: mount error(13): Permission denied", "permission"),
        ("AttachVolume.Attach failed: The maximum number of data disks allowed is 4", "too-many-disks"),
    ],
)
async def test_a_volume_that_is_not_mounted_is_found_with_its_cause(told: str, cause: str) -> None:
    unwell = Unwell().waits_for("ContainerCreating").warned("Pod", POD, "FailedAttachVolume", told)
    assert (await found(MOUNT, unwell)).facts["cause"] == cause


SET_UP = 'MountVolume.SetUp failed for volume "secrets" : '
NO_CLIENT = f"{SET_UP}kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name "
NOT_REGISTERED = "not found in the list of registered CSI drivers"
NOT_ATTACHED = 'AttachVolume.Attach failed for volume "pvc-1" : CSINode aks-apps-1-vmss000003 does not contain driver '
OBJECTS = "rpc error: code = Unknown desc = failed to mount secrets store objects for pod shop/web, err: "


@pytest.mark.parametrize(
    ("told", "driver"),
    [
        (f"{NO_CLIENT}secrets-store.csi.k8s.io {NOT_REGISTERED}", "secrets-store.csi.k8s.io"),
        (f"{NO_CLIENT}disk.csi.azure.com {NOT_REGISTERED}", "disk.csi.azure.com"),
        (f"{NOT_ATTACHED}disk.csi.azure.com", "disk.csi.azure.com"),
        (
            f'{SET_UP}{OBJECTS}error connecting to provider "azure": provider not found: provider "azure"',
            "secrets-store.csi.k8s.io",
        ),
    ],
)
async def test_a_csi_driver_that_the_node_does_not_have_is_named(told: str, driver: str) -> None:
    unwell = Unwell().waits_for("ContainerCreating").warned("Pod", POD, "FailedMount", told)
    finding = await found(MOUNT, unwell)
    assert (finding.facts["cause"], finding.facts["driver"]) == ("driver", driver)
    assert f"does not have CSI driver `{driver}`" in LIBRARY[MOUNT].line("effect", facts_of(finding, "prod-weu"))
    page = LIBRARY[MOUNT].render("Fix", finding.facts)
    assert "spec.nodeName=node-0" in page
    assert ("--addons azure-keyvault-secrets-provider" in page) == driver.startswith("secrets-store")


@pytest.mark.parametrize(
    "told",
    [
        "keyvault.BaseClient#GetSecret: Failure responding to request: StatusCode=403 -- Original Error: Forbidden",
        "GET https://shop.vault.azure.net/secrets/db/ RESPONSE 403: 403 Forbidden ERROR CODE: Forbidden",
        'StatusCode=404 Code="SecretNotFound" Message="A secret with (name/id) db was not found in this key vault"',
        "error: Get https://shop.vault.azure.net/secrets/db/: dial tcp: lookup shop.vault.azure.net: no such host",
        "failed to mount objects, error: failed to acquire tokens: ManagedIdentityCredential: Identity not found",
        'error making mount request: StatusCode=403 Code="Forbidden"',
        'failed to get secretproviderclass shop/web, error: SecretProviderClass "web" not found',
    ],
)
async def test_what_key_vault_refuses_is_no_matter_of_a_storage_account(told: str) -> None:
    unwell = Unwell().waits_for("ContainerCreating").warned("Pod", POD, "FailedMount", f"{SET_UP}{OBJECTS}{told}")
    finding = await found(MOUNT, unwell)
    assert (finding.facts["cause"], finding.facts["driver"]) == ("key-vault", "")
    page = LIBRARY[MOUNT].render("Fix", finding.facts)
    assert "Key Vault Secrets User" in page
    assert "storage account" not in page


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ('volume "pvc-1a403f22-77aa" : timed out waiting for external-attacher of disk.csi.azure.com', "unknown"),
        ("could not list keys: storage.AccountsClient#ListKeys: StatusCode=403", "permission"),
        ("RESPONSE 403: 403 This request is not authorized", "permission"),
        ('MountVolume.MountDevice failed for volume "pvc-1" : share orders does not exist', "missing"),
    ],
)
async def test_a_403_is_a_refusal_only_where_it_stands_alone(told: str, cause: str) -> None:
    unwell = Unwell().waits_for("ContainerCreating").warned("Pod", POD, "FailedAttachVolume", told)
    assert (await found(MOUNT, unwell)).facts["cause"] == cause


async def test_a_mount_that_has_failed_long_ago_is_over() -> None:
    told = "MountVolume.MountDevice failed: mount error(13): Permission denied"
    unwell = Unwell().waits_for("ContainerCreating")
    unwell.warned("Pod", POD, "FailedMount", told, ago=timedelta(minutes=12))
    assert (await asked(MOUNT, unwell)).outcome is Outcome.CLEAR


async def test_files_that_a_process_may_not_use_are_the_volumes_fault_and_explain_the_crash() -> None:
    unwell = Unwell(volumeMounts=[{"name": "data", "mountPath": "/data"}])
    unwell.template["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    unwell.crashes().says("Fatal error: can't open /data/dump.rdb for reading: Permission denied")
    assert (await found(MOUNT, unwell)).facts["path"] == "/data"
    assert await roots(unwell) == [MOUNT]


async def test_the_same_words_of_a_process_without_a_volume_are_its_own() -> None:
    unwell = Unwell().crashes().says("Fatal error: can't open /data/dump.rdb for reading: Permission denied")
    assert (await asked(MOUNT, unwell)).outcome is Outcome.CLEAR
    assert await roots(unwell) == ["container-crashing"]


# -- claims --


def claims(claim: dict[str, Any], volume: dict[str, Any] | None = None, **storage_class: Any) -> Unwell:
    """A pod that waits for claim `data`, and one volume."""
    unwell = Unwell()
    unwell.template["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    unwell.deploys()
    unwell.waits(POD, "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.", **unwell.template)
    asks = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}, "storageClassName": ""}
    unwell.add("PersistentVolumeClaim", "data", spec=asks | claim, status={"phase": "Pending"})
    has = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "10Gi"}, "storageClassName": ""}
    unwell.add("PersistentVolume", "disk-1", "", spec=has | (volume or {}), status={"phase": "Available"})
    if storage_class:
        unwell.add("StorageClass", storage_class.pop("name"), "", **storage_class)
    return unwell


async def unbound(unwell: Unwell) -> Finding:
    return await found(UNBOUND, unwell)


@pytest.mark.parametrize(
    ("claim", "volume", "cause", "side"),
    [
        ({"storageClassName": "fast"}, {}, "storage-class", "there are: none"),
        ({"resources": {"requests": {"storage": "20Gi"}}}, {}, "capacity", "wants 20Gi; volume disk-1 has 10Gi"),
        ({"accessModes": ["ReadWriteMany"]}, {}, "access-mode", "wants ReadWriteMany; volume disk-1 has ReadWriteOnce"),
        ({"selector": {"matchLabels": {"tier": "db"}}}, {}, "selector", "volume disk-1 has labels {}"),
        ({}, {"claimRef": {"namespace": "ops", "name": "old"}}, "occupied", "held by claim ops/old"),
    ],
)
async def test_a_claim_without_a_volume_is_found_with_both_sides(
    claim: dict[str, Any], volume: dict[str, Any], cause: str, side: str
) -> None:
    finding = await unbound(claims(claim, volume))
    assert (finding.subject, finding.facts["cause"]) == ("shop/PersistentVolumeClaim/data", cause)
    assert side in " ".join(finding.because)


async def test_a_claim_that_does_not_exist_is_found() -> None:
    unwell = claims({})
    unwell.objects = [one for one in unwell.objects if one["kind"] != "PersistentVolumeClaim"]
    assert (await unbound(unwell)).facts["cause"] == "missing"


async def test_a_claim_whose_class_waits_for_its_pod_is_healthy() -> None:
    unwell = claims(
        {"storageClassName": "managed-csi"},
        {"storageClassName": "other"},
        name="managed-csi",
        provisioner="disk.csi.azure.com",
        volumeBindingMode="WaitForFirstConsumer",
    )
    unwell.objects = [one for one in unwell.objects if one["kind"] != "PersistentVolume"]
    assert (await asked(UNBOUND, unwell)).outcome is Outcome.CLEAR


DISKS: dict[str, Any] = {
    "name": "managed-csi",
    "provisioner": "disk.csi.azure.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}
HELD = {"storageClassName": "managed-csi", "claimRef": {"namespace": "ops", "name": "old"}}
"""The disk of somebody else's claim, made by the same class."""


def too_big_for_any_node(claim: dict[str, Any], volume: dict[str, Any]) -> Unwell:
    """A pod that no node has the CPU for; its claim is of class managed-csi, which makes a disk once it has a node."""
    unwell = claims({"storageClassName": "managed-csi"} | claim, volume, **DISKS)
    pod = next(one for one in unwell.objects if one["kind"] == "Pod")
    pod["spec"]["containers"] = [{"name": "web", "resources": {"requests": {"cpu": "64"}}}]
    pod["status"]["conditions"][0]["message"] = "0/1 nodes are available: 1 Insufficient cpu."
    return unwell


@pytest.mark.parametrize(
    ("claim", "volume"),
    [
        ({}, HELD),
        ({}, HELD | {"capacity": {"storage": "4Gi"}, "claimRef": None}),
        ({"accessModes": ["ReadWriteMany"]}, HELD | {"claimRef": None}),
        ({}, {"storageClassName": "other"}),
    ],
)
async def test_a_claim_whose_class_makes_its_own_disk_has_nothing_to_do_with_the_disks_of_others(
    claim: dict[str, Any], volume: dict[str, Any]
) -> None:
    unwell = too_big_for_any_node(claim, volume)
    assert (await asked(UNBOUND, unwell)).outcome is Outcome.CLEAR
    assert await roots(unwell) == ["pod-unschedulable"]


async def test_where_the_classes_are_not_seen_the_disks_of_others_prove_nothing() -> None:
    unwell = too_big_for_any_node({}, HELD)
    unwell.denied = {"/storageclasses"}
    assert (await asked(UNBOUND, unwell)).outcome is Outcome.INCONCLUSIVE


async def test_a_claim_that_names_a_disk_is_left_with_that_one_whatever_its_class() -> None:
    finding = await unbound(claims({"storageClassName": "managed-csi", "volumeName": "disk-1"}, HELD, **DISKS))
    assert finding.facts["cause"] == "occupied"


async def test_a_class_that_makes_nothing_leaves_its_claims_with_what_there_is() -> None:
    local = {"name": "local", "provisioner": "kubernetes.io/no-provisioner"}
    finding = await unbound(claims({"storageClassName": "local"}, HELD | {"storageClassName": "local"}, **local))
    assert finding.facts["cause"] == "occupied"


def of_zones(*zones: str) -> Unwell:
    """A class that makes its disk beside the pod, in these zones only. The node is in westeurope-1."""
    expressions = [{"key": "topology.kubernetes.io/zone", "values": list(zones)}]
    unwell = claims({"storageClassName": "managed-csi"}, HELD, allowedTopologies=[
        {"matchLabelExpressions": expressions}
    ], **DISKS)  # fmt: skip
    pod = next(one for one in unwell.objects if one["kind"] == "Pod")
    said = "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind."
    pod["status"]["conditions"][0]["message"] = said
    return unwell


async def test_a_class_whose_zones_have_no_node_is_found_with_both_sides() -> None:
    finding = await unbound(of_zones("westeurope-2", "westeurope-3"))
    assert finding.facts["cause"] == "zone"
    assert finding.because[0] == (
        "class managed-csi makes volumes only where topology.kubernetes.io/zone is westeurope-2, westeurope-3; "
        "the nodes have westeurope-1"
    )
    assert "kubectl get storageclass managed-csi --output yaml" in page("Fix", finding)
    assert (await asked(UNBOUND, of_zones("westeurope-2", "westeurope-1"))).outcome is Outcome.CLEAR


async def test_a_zone_that_an_autoscaler_may_still_give_a_node_has_its_time() -> None:
    unwell = of_zones("westeurope-2")
    pod = next(one for one in unwell.objects if one["kind"] == "Pod")
    pod["status"]["conditions"][0]["lastTransitionTime"] = at(timedelta(minutes=4))
    assert (await asked(UNBOUND, unwell)).outcome is Outcome.CLEAR


def bound(phase: str = "Bound", **metadata: Any) -> Unwell:
    unwell = claims({"volumeName": "disk-1"}, {"claimRef": {"namespace": "shop", "name": "data"}})
    claim = next(one for one in unwell.objects if one["kind"] == "PersistentVolumeClaim")
    claim["metadata"] |= metadata
    claim["status"]["phase"] = phase
    return unwell


async def test_a_claim_whose_volume_is_gone_is_found() -> None:
    finding = await unbound(bound("Lost"))
    assert finding.facts["cause"] == "lost"
    assert finding.because[0] == "claim data is Lost: its volume disk-1 does not exist any more"
    assert "kubectl delete persistentvolumeclaim data --namespace shop" in page("Fix", finding)
    assert (await asked(UNBOUND, bound())).outcome is Outcome.CLEAR


async def test_a_bound_claim_that_is_being_deleted_is_found_with_who_keeps_it() -> None:
    unwell = bound(deletionTimestamp=at(timedelta(minutes=20)))
    unwell.runs("web-old-1", spec={"volumes": unwell.template["volumes"]})
    finding = await unbound(unwell)
    assert finding.facts["cause"] == "deleting"
    assert "is being deleted since" in finding.because[0]
    assert finding.because[0].endswith("and pod web-old-1 still uses it")
    assert "kubectl patch persistentvolume disk-1" in page("Fix", finding)


async def test_the_claim_of_an_ephemeral_volume_is_looked_at_like_any_other() -> None:
    unwell = claims({"storageClassName": "fast"})
    pod, claim = (
        next(one for one in unwell.objects if one["kind"] == kind) for kind in ("Pod", "PersistentVolumeClaim")
    )
    pod["spec"]["volumes"] = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}]
    assert (await asked(UNBOUND, unwell)).outcome is Outcome.CLEAR
    claim["metadata"]["name"] = f"{POD}-scratch"
    assert (await unbound(unwell)).facts["cause"] == "storage-class"


async def test_without_the_volumes_nothing_is_called_clear() -> None:
    unwell = claims({})
    unwell.denied = {"/persistentvolumes", "/storageclasses"}
    assert (await asked(UNBOUND, unwell)).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("code", [IMAGE, CONFIG, MOUNT])
async def test_without_the_pods_nothing_is_called_clear(code: str) -> None:
    unwell = Unwell().waits_for("ErrImagePull", PULL)
    unwell.denied = {"/api/v1/namespaces/shop/pods"}
    assert (await asked(code, unwell)).outcome is Outcome.INCONCLUSIVE


async def roots(unwell: Unwell) -> list[str]:
    diagnosis = await diagnosed(unwell)
    return [one.finding.code for one in diagnosis.findings if one.root]
