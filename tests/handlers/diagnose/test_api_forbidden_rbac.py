"""`rbac`: what a service account may do, as the API server decides it, over real sockets."""

from __future__ import annotations

from typing import Any

import pytest

from bot.checks.check import check, engine_for
from bot.checks.clients import clients
from bot.checks.words import areas, read_check
from bot.report.events import Report
from handlers.clients.kube.access import KubeAccess
from handlers.model import Check, Outcome
from sandbox.scenario import Scenario
from sandbox.world import World
from tests.checking import LIBRARY, access, azure
from tests.handlers.diagnose.bodies import Body
from tests.handlers.diagnose.inside import Inside, page
from tests.handlers.diagnose.wire import asked_about

RBAC = "rbac.authorization.k8s.io"


def world(*bodies: Body) -> World:
    """The scenario of the exporter that nobody bound, with more roles and bindings."""
    made = Scenario.load("api-forbidden-rbac").world
    kube = next(kube for key, kube in made.kubes.items() if key.endswith("/prod-eus2"))
    for body in bodies:
        kube.put(body)
    return made


def binding(subject: Body, role: str, kind: str = "ClusterRole", namespace: str = "") -> Body:
    metadata = {"name": f"{role}-for-test", **({"namespace": namespace} if namespace else {})}
    made = "RoleBinding" if namespace else "ClusterRoleBinding"
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": made,
        "metadata": metadata,
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
        "subjects": [subject],
    }


async def asked(words: str, stage: World) -> Check:
    """The answer to `rbac …` about prod-eus2."""
    _, scope = read_check(["prod-eus2", "rbac", *words.split()], areas())
    async with azure(stage) as server, clients(access(server), KubeAccess()) as opened:
        engine = engine_for(LIBRARY, scope, 30)
        events = [event async for event in check("prod-eus2", opened, engine, timeout_s=30, about=scope.about)]
    report = events[-1]
    assert isinstance(report, Report)
    return report.diagnosis.checks[0]


async def test_an_account_that_nobody_bound_may_not_and_the_smallest_role_is_given() -> None:
    ended = await asked("shop/exporter list pods", world())
    assert ended.outcome is Outcome.FOUND
    [finding] = ended.findings
    assert finding.subject == "shop/ServiceAccount/exporter"
    assert finding.because[0].startswith("shop/exporter may not list pods in namespace shop")
    shown = page("Fix", finding)
    for line in ("kind: Role\n", 'apiGroups: [""]', 'resources: ["pods"]', 'verbs: ["list"]', "namespace: shop"):
        assert line in shown


@pytest.mark.parametrize("group", ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"])
async def test_what_a_group_of_service_accounts_may_do_its_members_may(group: str) -> None:
    bound = binding({"kind": "Group", "apiGroup": RBAC, "name": group}, "view")
    assert (await asked("shop/exporter list pods", world(bound))).outcome is Outcome.CLEAR


async def test_the_group_of_another_namespace_does_not_help() -> None:
    bound = binding({"kind": "Group", "apiGroup": RBAC, "name": "system:serviceaccounts:orders"}, "view")
    assert (await asked("shop/exporter list pods", world(bound))).outcome is Outcome.FOUND


async def test_a_role_binding_holds_in_its_namespace_only() -> None:
    bound = binding({"kind": "ServiceAccount", "name": "exporter", "namespace": "shop"}, "view", namespace="orders")
    stage = world(bound)
    assert (await asked("shop/exporter list pods orders", stage)).outcome is Outcome.CLEAR
    assert (await asked("shop/exporter list pods", stage)).outcome is Outcome.FOUND


async def test_what_has_no_namespace_needs_a_cluster_role() -> None:
    [finding] = (await asked("shop/exporter list no", world())).findings
    assert finding.because[0].startswith("shop/exporter may not list nodes in the whole cluster")
    assert "kind: ClusterRole\n" in page("Fix", finding)


async def test_a_resource_is_known_by_its_short_name_and_its_group() -> None:
    [finding] = (await asked("shop/exporter patch deploy", world())).findings
    assert (finding.facts["resource"], finding.facts["api_group"]) == ("deployments", "apps")
    [custom] = (await asked("shop/exporter get certificates.cert-manager.io", world())).findings
    assert (custom.facts["resource"], custom.facts["api_group"]) == ("certificates", "cert-manager.io")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("shop/exporter list deploments", "Kubernetes has no resource deploments; nearest are deployments"),
        ("shop/exporter lst pods", "Kubernetes has no verb lst; nearest are list"),
        ("shop/exportr list pods", "`kubectl get serviceaccounts --namespace shop` lists them"),
        ("nowhere/exporter list pods", "namespace nowhere has no service account exporter"),
    ],
)
async def test_unknown_names_are_answered_with_the_nearest(words: str, why: str) -> None:
    ended = await asked(words, world())
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert why in ended.why


async def test_an_unknown_account_does_not_tell_its_neighbours() -> None:
    """The policy may allow questions about one account alone."""
    ended = await asked("shop/exporters list pods", world())
    assert "exporter" not in ended.why.replace("exporters", "")


async def test_without_the_right_to_ask_it_stays_open_and_names_it() -> None:
    stage = world()
    kube = next(kube for key, kube in stage.kubes.items() if key.endswith("/prod-eus2"))
    role = kube.find("clusterroles", "aksbot-reader")
    assert role is not None
    kube.put({**role, "rules": [rule for rule in role["rules"] if "create" not in rule["verbs"]]})
    ended = await asked("shop/exporter list pods", stage)
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "create subjectaccessreviews.authorization.k8s.io" in str(ended.unseen[0].grant)


class Undecided(Inside):
    """An API server one of whose authorizers could not decide."""

    def inside(self, path: str) -> tuple[int, Any]:
        if path.endswith("/subjectaccessreviews"):
            return 201, {"status": {"allowed": False, "evaluationError": "webhook: context deadline exceeded"}}
        return super().inside(path)


async def test_an_authorizer_that_could_not_decide_is_no_refusal() -> None:
    inside = Undecided()
    inside.add("ServiceAccount", "exporter")
    ended = await asked_about("rbac shop/exporter list pods", inside)
    assert ended.outcome is Outcome.INCONCLUSIVE
    assert "could not decide: webhook: context deadline exceeded" in ended.why
