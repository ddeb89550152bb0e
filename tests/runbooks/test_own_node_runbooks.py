"""What the runbooks about nodes, drains and private clusters tell a person to do, state by state."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from runbooks.library import CHECK, FIX, MEANING, SECTIONS, Library
from tests.handlers.diagnose.bodies import SUB

LIBRARY = Library.load()
PLACE: dict[str, Any] = {"cluster": "one", "group": "rg-one", "subscription": SUB, "node_group": "mc-one"}
COMPUTE = f"/subscriptions/{SUB}/resourceGroups/mc-one/providers/Microsoft.Compute"
IN_A_SET = {"scale_set": "vmss", "instance_id": "3", "machine_id": f"{COMPUTE}/virtualMachineScaleSets/vmss/vms/3"}
ALONE = {"scale_set": "", "instance_id": "", "machine_id": f"{COMPUTE}/virtualMachines/vm-1"}
NOWHERE = {"scale_set": "", "instance_id": "", "machine_id": ""}
CONTAINERS = f"/subscriptions/{SUB}/resourceGroups/rg-one/providers/Microsoft.ContainerService"
POOL_ID = f"{CONTAINERS}/managedClusters/one/agentPools/apps"
STUCK = [{"namespace": "shop", "pod": f"web-{number}", "finalizers": []} for number in range(2)]
RESTART_IN_A_SET = f"az vmss restart --subscription {SUB} --resource-group mc-one --name vmss --instance-ids 3"
RESTART_ALONE = f"az vm restart --ids {ALONE['machine_id']}"
OF_POOL = f"--subscription {SUB} --resource-group rg-one --cluster-name one --name apps"
RECONCILE = f"az resource update --ids {POOL_ID}"


def text(code: str, section: str, facts: dict[str, Any]) -> str:
    return LIBRARY[code].render(section, facts)


def commands(rendered: str) -> list[str]:
    """The lines of the shell blocks. A fence that is glued to a line would lose them."""
    found, inside = [], False
    for line in rendered.split("\n"):
        if line.startswith("```"):
            inside = not inside
            assert line == ("```sh" if inside else "```")
        elif inside and line.strip():
            found.append(line)
        else:
            assert "```" not in line
    assert not inside
    return found


def not_ready(reason: str, machine: dict[str, str], pool: str = "apps") -> dict[str, Any]:
    named = {"node": "node-1", "pool": pool, "pool_id": POOL_ID, "since": "noon", "says": "silent", "reason": reason}
    return PLACE | machine | named


def drain(**facts: Any) -> dict[str, Any]:
    state = {"pool": "apps", "pool_id": POOL_ID, "pool_state": "Failed", "upgrade_pending": False, "target": "1.33.2"}
    return PLACE | IN_A_SET | state | {"node": "node-1", "node_ready": True, "stuck": STUCK} | facts


def budget(**facts: Any) -> dict[str, Any]:
    counts = {"allowed": 0, "healthy": 3, "desired": 3, "expected": 3, "unhealthy": 0}
    named = {"budget": "web", "namespace": "shop", "rule": "minAvailable 3", "others": [], "owner": ""}
    return drain(refused=False) | counts | named | facts


def machine(place: dict[str, str], **facts: Any) -> dict[str, Any]:
    named = {"machine": "vm-1", "node": "node-1", "computer": "vmss000003", "pool": "apps", "message": "disk"}
    extension = {"extension": "", "exit_code": 0, "line": "", "known_as": "", "more": 0, "machines": ["vm-1"]}
    owner = {"pool_id": POOL_ID, "provisioned_for": ""}
    return PLACE | place | named | extension | owner | {"latest_model": True, "unhealthy": False} | facts


def private(zone: str, **facts: Any) -> dict[str, Any]:
    names = {"private_fqdn": "one.privatelink", "detail": "no such host", "resolves": False}
    return PLACE | names | {"zone": zone, "zone_name": "", "zone_group": ""} | facts


def system_pod(trouble: str, *, owned: bool) -> dict[str, Any]:
    pod = {"owner": "coredns", "pods": ["coredns-1"], "pod": "coredns-1", "node": "", "message": "", "image": "i"}
    return PLACE | pod | {"trouble": trouble, "owned": owned}


def half_done(*, images_only: bool, **facts: Any) -> dict[str, Any]:
    versions = {"version": "1.33", "current_version": "1.32.5", "target": "1.33.2", "images_only": images_only}
    nodes = {"cordoned": [], "quarantined": [], "surplus": 0, "count": 3, "autoscaled": False}
    return PLACE | {"pool": "apps", "pool_id": POOL_ID, "proved": True} | nodes | versions | facts


EVERY_STATE = [
    *[
        ("node-not-ready", not_ready(reason, place, pool))
        for reason in ("kubelet-silent", "kubelet-back", "kubelet-says", "vm-stopped", "vm-gone", "vm-failed")
        for place in (IN_A_SET, ALONE)
        for pool in ("apps", "")
    ],
    ("node-not-ready", not_ready("missing", NOWHERE)),
    *[("node-not-ready", not_ready(reason, NOWHERE, "")) for reason in ("kubelet-silent", "virtual-node", "network")],
    *[
        ("drain-error", drain(pool_state=state, **place))
        for state in ("Upgrading", "Failed")
        for place in (IN_A_SET, NOWHERE)
    ],
    *[("pdb-blocks-drain", budget(**facts)) for facts in ({}, {"others": ["b"]}, {"refused": True}, {"unhealthy": 1})],
    *[
        ("upgrade-half-done", half_done(images_only=images, proved=proved, cordoned=cordoned))
        for images, proved in ((True, True), (False, True), (True, False))
        for cordoned in ([], ["node-1"])
    ],
    *[
        ("node-vm-failed", machine(place, unhealthy=unhealthy, latest_model=latest))
        for place in (IN_A_SET, ALONE)
        for unhealthy in (True, False)
        for latest in (True, False)
    ],
    *[
        ("node-vm-failed", machine(place, extension=extension, exit_code=50, known_as=known, provisioned_for=owner))
        for place in (IN_A_SET, ALONE)
        for extension in ("vmssCSE", "")
        for known in ("cse-error", "")
        for owner in ("default", "")
    ],
    *[("private-cluster-unreachable", private("system", zone_name=name, zone_group=name)) for name in ("z", "")],
    *[("kube-system-not-running", system_pod("Evicted", owned=owned)) for owned in (True, False)],
]


@pytest.mark.parametrize(("code", "facts"), EVERY_STATE)
def test_every_state_gives_whole_shell_blocks_whose_az_lines_name_their_subscription(
    code: str, facts: dict[str, Any]
) -> None:
    for section in SECTIONS:
        for line in commands(text(code, section, facts)):
            words = shlex.split(line)
            assert words[0] in ("az", "kubectl")
            assert words[0] == "kubectl" or {"--subscription", "--ids"} & set(words)
            assert "" not in words


@pytest.mark.parametrize("code", list(LIBRARY))
def test_no_placeholder_is_what_a_shell_takes_for_redirection(code: str) -> None:
    for section in SECTIONS:
        for block in LIBRARY[code].sections[section].split("```")[1::2]:
            bare = re.sub(r"\{[%{].*?[%}]\}|'[^'\n]*'|\"[^\"\n]*\"", "", block)
            assert not re.search(r"<[\w-]+>", bare)


@pytest.mark.parametrize("reason", ["kubelet-silent", "kubelet-back", "kubelet-says"])
@pytest.mark.parametrize(("place", "restart"), [(IN_A_SET, RESTART_IN_A_SET), (ALONE, RESTART_ALONE)])
def test_a_node_whose_kubelet_is_out_of_order_is_restarted_from_outside_then_replaced(
    reason: str, place: dict[str, str], restart: str
) -> None:
    fix = text("node-not-ready", FIX, not_ready(reason, place))
    lines = commands(fix)
    assert lines[:2] == [restart, f"az aks nodepool delete-machines {OF_POOL} --machine-names node-1"]
    assert "one node smaller" in fix
    assert not [line for line in lines if "debug" in line or "systemctl" in line or "nodeclaim" in line]


def test_a_node_of_no_pool_is_replaced_through_its_claim() -> None:
    lines = commands(text("node-not-ready", FIX, not_ready("kubelet-silent", ALONE, pool="")))
    assert lines == [RESTART_ALONE, "kubectl get nodeclaims --output wide", "kubectl delete nodeclaim '<nodeclaim>'"]


def test_a_stopped_machine_is_started_as_what_it_is() -> None:
    start = commands(text("node-not-ready", FIX, not_ready("vm-stopped", ALONE)))
    assert start == [f"az vm start --ids {ALONE['machine_id']}"]
    assert commands(text("node-not-ready", FIX, not_ready("vm-stopped", IN_A_SET)))[0].startswith("az vmss start ")


def test_a_virtual_node_is_looked_for_in_its_connector() -> None:
    lines = commands(text("node-not-ready", FIX, not_ready("virtual-node", NOWHERE, pool="")))
    assert lines[0] == "kubectl get pods --namespace kube-system --output wide"
    assert not [line for line in lines if line.startswith("az ")]


@pytest.mark.parametrize("code", ["drain-error", "pdb-blocks-drain"])
def test_how_the_operation_goes_on_depends_on_the_pool(code: str) -> None:
    def az(**facts: Any) -> list[str]:
        fix = text(code, FIX, budget(**NOWHERE, **facts))
        assert ("by itself" in fix) is (facts.get("pool_state") in ("Upgrading", "Deleting"))
        return [line for line in commands(fix) if line.startswith("az ")]

    assert az() == [RECONCILE]
    assert az(pool_state="Upgrading", upgrade_pending=True) == []
    assert az(pool_state="Deleting") == []
    assert az(upgrade_pending=True) == [f"az aks nodepool upgrade {OF_POOL} --kubernetes-version 1.33.2"]


def test_after_a_refusal_the_upgrade_is_started_again() -> None:
    of_cluster = (
        f"az aks upgrade --subscription {SUB} --resource-group rg-one --name one --kubernetes-version '<version>'"
    )
    of_pool = f"az aks nodepool upgrade {OF_POOL} --kubernetes-version '<version>'"
    whole = commands(text("pdb-blocks-drain", FIX, budget(refused=True, pool="", pool_state="")))
    assert [line for line in whole if line.startswith("az ")] == [of_cluster]
    one = commands(text("pdb-blocks-drain", FIX, budget(refused=True, pool_state="")))
    assert [line for line in one if line.startswith("az ")] == [of_cluster, of_pool]


def test_a_drain_that_nothing_helps_restarts_the_kubelet_and_never_the_machine() -> None:
    in_a_set, alone = (commands(text("drain-error", FIX, drain(**place))) for place in (IN_A_SET, ALONE))
    of_set = f"az vmss run-command invoke --subscription {SUB} --resource-group mc-one --name vmss --instance-id 3 "
    assert [line for line in in_a_set if line.startswith(of_set) and "systemctl restart kubelet" in line]
    of_machine = f"az vm run-command invoke --ids {ALONE['machine_id']} "
    assert [line for line in alone if line.startswith(of_machine) and "systemctl restart kubelet" in line]
    assert not [line for line in (*in_a_set, *alone) if line.startswith(("az vmss restart", "az vm restart"))]
    assert "restart" not in text("drain-error", FIX, drain(**NOWHERE))


def test_a_budget_is_relaxed_in_a_way_that_works_for_its_pods() -> None:
    fix = text("pdb-blocks-drain", FIX, budget())
    assert '{"spec":{"minAvailable":null,"maxUnavailable":1}}' in fix
    assert '{"spec":{"maxUnavailable":null,"minAvailable":2}}' in fix
    assert "scale subresource" in fix
    assert "Repair" not in fix


def test_pods_that_are_not_ready_are_repaired_before_their_budget_is_touched() -> None:
    fix = text("pdb-blocks-drain", FIX, budget(healthy=0, unhealthy=3))
    assert fix.index("Repair") < fix.index("kubectl patch")
    assert '"minAvailable":0}' in fix


def test_of_two_budgets_the_person_chooses_and_none_is_said_to_allow_nothing() -> None:
    facts = budget(others=["web-too"], allowed=1)
    assert "no pod of it may be moved" not in text("pdb-blocks-drain", MEANING, facts)
    assert "no pod of it may be moved" in text("pdb-blocks-drain", MEANING, budget())
    lines = commands(text("pdb-blocks-drain", FIX, facts))
    assert lines[:2] == [
        "kubectl get pdb web web-too --namespace shop --output yaml > budgets-of-shop.yaml",
        "kubectl delete pdb '<budget>' --namespace shop",
    ]
    assert lines[-1] == "kubectl replace --force --filename budgets-of-shop.yaml"


def test_a_budget_is_saved_before_it_is_touched_and_put_back_from_there() -> None:
    lines = [line for line in commands(text("pdb-blocks-drain", FIX, budget())) if line.startswith("kubectl")]
    assert lines[0] == "kubectl get pdb web --namespace shop --output yaml > pdb-web.yaml"
    assert lines[1].startswith("kubectl patch pdb web ")
    assert lines[-2:] == ["kubectl replace --force --filename pdb-web.yaml", "kubectl get pdb web --namespace shop"]


def test_a_quarantined_node_is_deleted_or_loses_its_label_because_no_upgrade_touches_it() -> None:
    facts = half_done(images_only=False, cordoned=["node-1"], quarantined=["node-1"], surplus=1)
    assert "keeps one surge node for each" in text("upgrade-half-done", MEANING, facts)
    lines = commands(text("upgrade-half-done", FIX, facts))
    assert lines[0].startswith("kubectl drain node-1 ")
    assert lines[1] == f"az aks nodepool delete-machines {OF_POOL} --machine-names node-1"
    assert lines[2] == "kubectl label node node-1 kubernetes.azure.com/upgrade-status-"
    assert lines[3] == f"az aks nodepool scale {OF_POOL} --node-count 3"
    assert "does not clear it" in text("upgrade-half-done", FIX, facts)
    assert "quarantine" not in text("upgrade-half-done", FIX, half_done(images_only=False, cordoned=["node-1"]))


def test_an_upgrade_goes_on_to_the_control_planes_version_or_to_the_newest_image() -> None:
    upgrade = f"az aks nodepool upgrade {OF_POOL}"
    versions = commands(text("upgrade-half-done", FIX, half_done(images_only=False)))
    assert versions == [f"{upgrade} --kubernetes-version 1.33.2"]
    assert commands(text("upgrade-half-done", FIX, half_done(images_only=True))) == [f"{upgrade} --node-image-only"]


def test_a_machine_that_is_only_unhealthy_is_restarted_and_not_brought_up_to_date() -> None:
    assert commands(text("node-vm-failed", FIX, machine(IN_A_SET, unhealthy=True))) == [RESTART_IN_A_SET]
    assert "health probe fails" in text("node-vm-failed", MEANING, machine(IN_A_SET, unhealthy=True))
    alone = f"az vm restart --subscription {SUB} --resource-group mc-one --name vm-1"
    assert commands(text("node-vm-failed", FIX, machine(ALONE, unhealthy=True))) == [alone]


def test_a_machine_that_is_deleted_is_called_by_its_computer_name_and_missed_in_the_count() -> None:
    fix = text("node-vm-failed", FIX, machine(IN_A_SET, latest_model=False))
    assert commands(fix)[0] == f"az aks nodepool delete-machines {OF_POOL} --machine-names vmss000003"
    assert "lowers the pool's count" in fix


def test_a_private_zone_is_linked_where_it_is() -> None:
    other = "22222222-2222-2222-2222-222222222222"
    zone = f"/subscriptions/{other}/resourceGroups/hub/providers/Microsoft.Network/privateDnsZones/private.net"
    place = f"--subscription {other} --resource-group hub --zone-name private.net"
    facts = private(zone, zone_name="private.net", zone_group="hub")
    check = commands(text("private-cluster-unreachable", CHECK, facts))
    assert check[1:] == [f"az network private-dns link vnet list {place}"]
    assert place in commands(text("private-cluster-unreachable", FIX, facts))[0]


@pytest.mark.parametrize("zone", ["none", "system"])
def test_without_a_known_zone_nothing_is_linked(zone: str) -> None:
    for section in (CHECK, FIX):
        lines = commands(text("private-cluster-unreachable", section, private(zone)))
        assert len(lines) == 1
        assert "private-dns" not in lines[0]


def test_a_system_pod_is_deleted_only_where_its_controller_makes_it_anew() -> None:
    delete = ["kubectl delete pod coredns-1 --namespace kube-system"]
    assert commands(text("kube-system-not-running", FIX, system_pod("Evicted", owned=True))) == delete
    assert commands(text("kube-system-not-running", FIX, system_pod("Evicted", owned=False))) == []
    for trouble in ("ImagePullBackOff", "ErrImagePull", "Unschedulable", "CrashLoopBackOff"):
        assert "kubectl delete pod" not in text("kube-system-not-running", FIX, system_pod(trouble, owned=True))


# Not pdb-blocks-drain: its fact `namespace` is also the name of a global of Jinja.
@pytest.mark.parametrize("code", sorted({code for code, _ in EVERY_STATE}))
def test_each_can_be_read_without_a_cluster(code: str) -> None:
    for section in SECTIONS:
        assert "{%" not in LIBRARY[code].outline(section)


@pytest.mark.parametrize(
    ("reason", "looked_for"),
    [("disk-pressure", "du -xsh /var/log/pods/*"), ("pid-pressure", "ps -eLo comm=")],
)
@pytest.mark.parametrize(("place", "on"), [(IN_A_SET, "az vmss run-command"), (ALONE, "az vm run-command")])
def test_a_full_disk_and_exhausted_process_ids_have_steps_of_their_own(
    reason: str, looked_for: str, place: dict[str, str], on: str
) -> None:
    lines = commands(text("node-not-ready", FIX, not_ready(reason, place)))
    assert [line for line in lines if line.startswith(on) and looked_for in line]
    assert not [line for line in lines if "top pod" in line or "restart" in line]


def test_a_node_without_memory_is_closed_to_new_pods_first() -> None:
    lines = commands(text("node-not-ready", FIX, not_ready("memory-pressure", IN_A_SET)))
    assert lines[:2] == ["kubectl cordon node-1", "kubectl top pod --all-namespaces --sort-by memory"]


@pytest.mark.parametrize("reason", ["kubelet-silent", "kubelet-says"])
def test_the_kubelets_log_is_read_without_the_kubelet(reason: str) -> None:
    lines = commands(text("node-not-ready", CHECK, not_ready(reason, ALONE)))
    assert lines[-1].startswith("az vm run-command invoke")
    assert "journalctl -u kubelet" in lines[-1]
