"""The Kubernetes manifests: the rendered output is secure, complete and accepted by Kubernetes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.settings import _UNPREFIXED, PREFIX, Settings
from deploy import manifests
from deploy.manifests import ALONE, KUBERNETES, VERSIONS, WAYS, Body, faults, rendered
from tests.deploy.dockerfile import of

SOCKET_MODE, HTTP = WAYS
needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl on this machine")
needs_all = pytest.mark.skipif(manifests.why_not() is not None, reason=str(manifests.why_not()))

pytestmark = needs_kubectl


def objects(way: Path, kind: str) -> list[Body]:
    return [one for one in rendered(way) if one["kind"] == kind]


def pod(way: Path) -> Body:
    (deployment,) = objects(way, "Deployment")
    spec: Body = deployment["spec"]["template"]["spec"]
    return spec


def environment(way: Path) -> dict[str, Any]:
    (container,) = pod(way)["containers"]
    return {one["name"]: one.get("value") or one["valueFrom"]["secretKeyRef"] for one in container["env"]}


def ports(way: Path) -> dict[str, int]:
    (container,) = pod(way)["containers"]
    return {one["name"]: one["containerPort"] for one in container["ports"]}


@needs_all
@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_takes_every_object(version: str) -> None:
    plain = [one for file in ALONE for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    made = [one for way in WAYS for one in rendered(way)]
    assert [fault for one in (*plain, *made) for fault in faults(one, version)] == []


@needs_all
def test_what_kubernetes_does_not_know_is_found() -> None:
    (deployment,) = objects(SOCKET_MODE, "Deployment")
    deployment["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readOnlyRoot"] = True
    assert any("readOnlyRoot" in fault for fault in faults(deployment, VERSIONS[-1]))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_pod_is_as_restricted_as_its_namespace_demands(way: Path) -> None:
    """kubernetes.io/docs/concepts/security/pod-security-standards, "Restricted"."""
    (namespace,) = objects(way, "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    spec = pod(way)
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert f"{spec['securityContext']['runAsUser']}:{spec['securityContext']['runAsGroup']}" in of("USER")
    for one in spec["containers"]:
        inside = one["securityContext"]
        assert (inside["allowPrivilegeEscalation"], inside["capabilities"]) == (False, {"drop": ["ALL"]})
        assert inside["readOnlyRootFilesystem"]
    assert all({"emptyDir", "configMap"} & set(volume) for volume in spec["volumes"])
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_azure_knows_the_pod_by_its_workload_identity(way: Path) -> None:
    (account,) = objects(way, "ServiceAccount")
    (deployment,) = objects(way, "Deployment")
    template = deployment["spec"]["template"]
    assert "azure.workload.identity/client-id" in account["metadata"]["annotations"]
    assert template["metadata"]["labels"]["azure.workload.identity/use"] == "true"
    assert template["spec"]["serviceAccountName"] == account["metadata"]["name"]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_every_variable_is_a_setting_and_every_secret_comes_from_the_secret(way: Path) -> None:
    known = {name.upper() if name in _UNPREFIXED else f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    given = environment(way)
    assert set(given) <= known | {f"{PREFIX}CONFIG"}
    example = yaml.safe_load((KUBERNETES / "secret.example.yaml").read_text(encoding="utf-8"))
    asked = {name: one for name, one in given.items() if isinstance(one, dict)}
    optional = [name for name, one in asked.items() if one.pop("optional", False)]
    assert set(optional) <= {f"{PREFIX}ALERTS_TOKEN"}
    assert asked == {name: {"name": example["metadata"]["name"], "key": name} for name in asked}
    assert set(asked) <= set(example["stringData"])


def test_each_way_has_what_slack_needs_and_nothing_that_chooses_the_other() -> None:
    assert {"SLACK_BOT_TOKEN", "SLACK_APP_TOKEN"} <= set(environment(SOCKET_MODE))
    assert "SLACK_SIGNING_SECRET" not in environment(SOCKET_MODE)
    assert {"SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET"} <= set(environment(HTTP))
    assert "SLACK_APP_TOKEN" not in environment(HTTP)


def test_in_socket_mode_nothing_comes_in_and_over_http_the_ingress_does_by_one_port() -> None:
    (closed,), (open_,) = objects(SOCKET_MODE, "NetworkPolicy"), objects(HTTP, "NetworkPolicy")
    assert closed["spec"]["ingress"] == []
    (rule,) = open_["spec"]["ingress"]
    assert rule["ports"] == [{"protocol": "TCP", "port": ports(HTTP)["http"]}]
    assert [list(one) for one in rule["from"]] == [["namespaceSelector"]]
    assert rule["from"][0]["namespaceSelector"]["matchLabels"]
    assert closed["spec"]["egress"] == open_["spec"]["egress"]
    assert objects(SOCKET_MODE, "Service") == []
    (service,) = objects(HTTP, "Service")
    (deployment,) = objects(HTTP, "Deployment")
    assert [one["targetPort"] for one in service["spec"]["ports"]] == ["http"]
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_probes_ask_a_port_that_nobody_else_is_let_to(way: Path) -> None:
    (container,) = pod(way)["containers"]
    given = environment(way)
    listens = {"http": int(given["AKSBOT_HTTP_PORT"]), "ops": int(given["AKSBOT_OPS_PORT"])}
    assert ports(way) == listens
    assert given["AKSBOT_HTTP_HOST"] == "0.0.0.0"
    probes = [container[f"{one}Probe"]["httpGet"] for one in ("startup", "liveness", "readiness")]
    assert {one["port"] for one in probes} == {"ops"}
    assert {one for line in of("EXPOSE") for one in line.split()} == {str(one) for one in listens.values()}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_no_secret_and_no_budget_is_applied(way: Path) -> None:
    """A budget for one replica would hold up every drain: what the bot itself reports elsewhere."""
    assert objects(way, "Secret") == []
    assert objects(way, "PodDisruptionBudget") == []
