"""Messages as people and alert bots write them: the right problem first, or silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.triage.clusters import FleetNames
from bot.triage.decide import Certainty
from bot.triage.recognise import Around, Recogniser
from runbooks.library import Library
from tests.bench.triage import FLEET
from tests.runbooks import said_azure, said_hybrid
from tests.runbooks.pages import RIGHT, write
from tests.triage.hostile import ORDERS


@pytest.fixture(scope="module")
def recogniser() -> Recogniser:
    return Recogniser(Library.load())


def test_of_the_texts_that_the_runbooks_quote_few_are_missed(recogniser: Recogniser) -> None:
    said = [
        (code, text) for table in (said_azure.SAID, said_hybrid.SAID) for code, texts in table.items() for text in texts
    ]
    answers = [(code, text, recogniser.recognise(text, FLEET).codes) for code, text in said]
    first = [(code, text) for code, text, codes in answers if codes[:1] != (code,)]
    first_two = [(code, text) for code, text, codes in answers if code not in codes[:2]]
    assert len(first) <= 0.12 * len(answers), first
    assert len(first_two) <= 0.10 * len(answers), first_two


@pytest.mark.parametrize("order", ORDERS)
def test_a_text_that_gives_orders_is_not_obeyed(recogniser: Recogniser, order: str) -> None:
    assert recogniser.recognise(order, FLEET).certainty is not Certainty.SURE


def test_an_error_code_and_words_that_agree_with_it_are_sure(recogniser: Recogniser) -> None:
    told = recogniser.recognise("prod-weu is out of vCPU quota: ErrCode_InsufficientVCPUQuota", FLEET)
    assert (told.certainty, told.codes[:1]) == (Certainty.SURE, ("quota-exceeded",))


def test_a_wrapper_alone_decides_nothing(recogniser: Recogniser) -> None:
    for code in ("OperationNotAllowed", "Conflict", "BadRequest", "DeploymentFailed", "ResourceOperationFailure"):
        assert recogniser.recognise(f'{{"error": {{"code": "{code}", "message": "see below"}}}}').codes == ()


def test_the_innermost_of_nested_and_escaped_errors_decides(recogniser: Recogniser) -> None:
    text = json.dumps({"code": "QuotaExceeded", "message": "no more"})
    for code in ("ResourceDeploymentFailure", "CreateVMSSAgentPoolFailed", "DeploymentFailed"):
        text = json.dumps({"error": {"code": code, "message": text}})
    found = recogniser.recognise(text)
    assert found.codes[0] == "quota-exceeded"
    assert found.certainty is Certainty.SURE


def test_what_an_error_is_wrapped_in_is_named_beside_it(recogniser: Recogniser) -> None:
    """The inner code says why, the outer one what has failed of it: a check finds both."""
    text = (
        "ReconcileVMSSAgentPoolFailed: Reconcile vmss agent pool error: VMSSAgentPoolReconciler retry failed: "
        "Category: InternalError; SubCode: ZonalAllocationFailed; Dependency: "
        'Microsoft.Compute/VirtualMachineScaleSet; OrginalError: Code="ZonalAllocationFailed" Message="Allocation '
        'failed. We do not have sufficient capacity for the requested VM size in this zone."'
    )
    assert recogniser.recognise(text).codes[:2] == ("allocation-failed", "nodepool-failed")


def test_exit_50_is_no_way_out_and_other_exits_are_the_set_up_script(recogniser: Recogniser) -> None:
    told = "vmssCSE: Enable failed: command terminated with exit status={}, ERR_OUTBOUND_CONN_FAIL=50"
    assert recogniser.recognise(told.format(50)).codes[0] == "outbound-conn-fail"
    for status in (51, 52, 124):
        assert recogniser.recognise(told.format(status)).codes[0] == "cse-error"


def test_a_blocking_budget_goes_before_the_drain_that_it_blocks(recogniser: Recogniser) -> None:
    text = "Drain did not complete: Cannot evict pod as it would violate the pod's disruption budget."
    assert recogniser.recognise(text).codes[:1] == ("pdb-blocks-drain",)


@pytest.mark.parametrize(
    "text",
    [
        "[RESOLVED] prod-weu: SubnetIsFull",
        '{"status": "resolved", "labels": {"alertname": "KubeNodeNotReady", "cluster": "prod-weu"}}',
        "postmortem: SubnetIsFull blocked our scale-out in March",
        "on EKS we get QuotaExceeded, anyone?",
        "*Dynatrace* problem P-2509 **RESOLVED**: Kubernetes node not ready, aks-apps-31415926-vmss000006, prod-weu",
        "Nagios RECOVERY: node-count/prod-weu, 18 Ready",
        "[OK] KubeNodeNotReady aks-apps-31415926-vmss000006 (prod-weu)",
        "Sev1 → *Resolved* KubeNodeNotReady prod-weu",
        "✅ prod-weu upgraded at the second attempt, the first one: SubnetIsFull",
        "[RESOLVED] KubeNodeNotReady aks-apps-31415926-vmss000006 (prod-weu), was firing for 12m",
        "[FIRING:0, RESOLVED:2] KubeNodeNotReady prod-weu",
    ],
)
def test_what_is_over_or_elsewhere_is_quiet_and_says_why(recogniser: Recogniser, text: str) -> None:
    found = recogniser.recognise(text, FLEET)
    assert (found.certainty, found.codes) == (Certainty.QUIET, ())
    assert "“" in found.because


@pytest.mark.parametrize(
    "text",
    [
        "[RESOLVED:3 FIRING:1] KubeNodeNotReady aks-apps-31415926-vmss000009 (prod-weu)",
        "[RESOLVED] HighLatency\n[FIRING] KubeNodeNotReady aks-apps-31415926-vmss000009 (prod-weu)",
        "[Resolved] HighLatency\n[Alerting] KubeNodeNotReady aks-apps-31415926-vmss000009 (prod-weu)",
        "Resolved: 14, open: 1, KubeNodeNotReady aks-apps-31415926-vmss000009 (prod-weu)",
        "[FIRING:1, RESOLVED:1] prod-weu\n**Firing**\nalert = KubeNodeNotReady\n**Resolved**\nalert = HighLatency",
        "✅ lint ✅ plan ❌ apply of prod-weu: SubnetIsFull, nodes NotReady",
        "ticket 41177 says RESOLVED but two nodes of prod-weu are still NotReady",
        "prod-weu is NOT YET RESOLVED: SubnetIsFull",
        "prod-weu flaps: node NotReady → Ready → NotReady every five minutes",
        "[FIRING:1] KubeletDown prod-weu\nclosed connection: kubelet stopped posting node status, node NotReady",
    ],
)
def test_a_card_that_tells_of_one_more_is_heard(recogniser: Recogniser, text: str) -> None:
    assert recogniser.recognise(text, FLEET).codes


def test_who_compares_with_another_cloud_is_still_heard(recogniser: Recogniser) -> None:
    assert recogniser.recognise("AKS nodes are NotReady, the same on EKS never happened").codes[0] == "node-not-ready"


def test_an_answer_says_by_what_it_was_recognised(recogniser: Recogniser) -> None:
    by_pattern = recogniser.recognise("Cannot create more than 20 public IP addresses").suspects[0]
    assert "Cannot create more than 20 public IP addresses" in by_pattern.why[0]
    by_words = recogniser.recognise("prod-weu can't grow, all addresses of its subnet are taken", FLEET).suspects[0]
    assert by_words.code == "subnet-full"
    assert "subnet" in by_words.why[-1]


_EVERYTHING = (
    "prod-weu is all broken since the upgrade: nodes NotReady, kubectl times out, pods OOMKilled, the scale-out ends "
    "with SubnetIsFull, then QuotaExceeded, the drain hangs on a disruption budget, and every write says ScopeLocked"
)


def test_at_most_three_codes_are_named(recogniser: Recogniser) -> None:
    assert len(recogniser.recognise(_EVERYTHING).codes) in (2, 3)


def test_a_teams_own_runbook_is_recognised_by_its_words(tmp_path: Path) -> None:
    own = RIGHT.replace("code: quota-exceeded", "code: our-proxy").replace(
        '"out of quota"', '"the fax gateway is jammed"'
    )
    assert own != RIGHT
    write(tmp_path, own, code="our-proxy")
    found = Recogniser(Library.load(tmp_path)).recognise("somebody look please: our fax gateway is jammed again")
    assert found.codes == ("our-proxy",)
    # Also before what its words make likely, but not before what they make sure.
    team = Recogniser(Library.load(tmp_path))
    likely = "node is NotReady since noon, our fax gateway is jammed"
    assert team.recognise(likely).codes == ("our-proxy", "node-not-ready")
    sure = "SubnetIsFull: prod-weu cannot add nodes, no addresses left in the subnet. And the fax gateway is jammed"
    assert team.recognise(sure).codes[0] == "subnet-full"


@pytest.mark.parametrize(
    "text",
    [
        "purview scan of the data lake ends with (InternalServerError) Internal server error, ticket is open with them",
        "tf destroy of the old VPN gateway: Code=GatewayTimeout, second run went through",
        "our own REST api answers ServiceUnavailable under the load test, its thread pool is too small",
    ],
)
def test_a_code_that_any_service_has_is_not_the_clusters_for_that_alone(recogniser: Recogniser, text: str) -> None:
    assert recogniser.recognise(text, FLEET).codes == ()


def test_shouting_is_no_heading_of_a_table(recogniser: Recogniser) -> None:
    assert recogniser.recognise("NODE NOT READY").codes[:1] == ("node-not-ready",)


def test_the_cluster_comes_from_around_when_the_message_names_none(recogniser: Recogniser) -> None:
    around = (Around("the channel's topic", "on-call for staging-neu"), Around("an earlier message", "prod-weu?"))
    found = recogniser.recognise("node is NotReady", FLEET, around)
    assert (found.cluster, found.cluster_by) == ("staging-neu", "its name in the channel's topic")
    assert recogniser.recognise("prod-eus2 node is NotReady", FLEET, around).cluster == "prod-eus2"


def test_two_clusters_are_a_choice_and_too_many_are_none(recogniser: Recogniser) -> None:
    found = recogniser.recognise("prod-weu and prod-eus2 have nodes NotReady", FLEET)
    assert (found.cluster, found.choices) == (None, ("prod-weu", "prod-eus2"))
    many = FleetNames(tuple(f"cluster-{n:04}" for n in range(5_000)))
    assert recogniser.recognise(" ".join(many.names), many).choices == ()
