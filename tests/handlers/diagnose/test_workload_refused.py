"""Pods that Kubernetes refuses to create: quotas, service accounts, webhooks."""

import json
from datetime import timedelta

import pytest

from handlers.model import Outcome, Severity
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.unwell import Unwell
from tests.handlers.diagnose.wire import asked, diagnosed, found

QUOTA, ACCOUNT, WEBHOOK = "namespace-quota-exceeded", "service-account-missing", "webhook-blocks"
EXCEEDED = (
    'pods "web-5d9c7b8f6-" is forbidden: exceeded quota: compute, requested: requests.cpu=500m, '
    "used: requests.cpu=1800m, limited: requests.cpu=2"
)
NO_ACCOUNT = (
    'pods "web-5d9c7b8f6-" is forbidden: error looking up service account shop/webb: serviceaccount "webb" not found'
)
SILENT = (
    'Internal error occurred: failed calling webhook "check.policies.example.com": failed to call webhook: Post '
    '"https://policies.guard.svc:443/validate?timeout=10s": no endpoints available for service "policies"'
)
CASES = [(QUOTA, EXCEEDED), (ACCOUNT, NO_ACCOUNT), (WEBHOOK, SILENT)]


def limited(used: str = "1800m") -> Unwell:
    """A quota of 2 CPUs in namespace shop."""
    unwell = Unwell()
    hard = {"requests.cpu": "2", "limits.memory": "4Gi"}
    unwell.add(
        "ResourceQuota", "compute", status={"hard": hard, "used": {"requests.cpu": used, "limits.memory": "1Gi"}}
    )
    return unwell


async def test_a_quota_that_refuses_pods_is_found_with_its_arithmetic() -> None:
    finding = await found(QUOTA, limited().refused(EXCEEDED))
    assert finding.subject == "shop/ResourceQuota/compute"
    assert "shop/Deployment/web" in finding.affects
    assert "shop/Service/web" in finding.affects
    assert "quota compute of namespace shop: requests.cpu 1800m used + 500m requested > 2 allowed" in finding.because
    assert finding.facts["resource"] == "requests.cpu"


async def test_a_quota_that_was_raised_meanwhile_is_no_cause_any_more() -> None:
    assert (await asked(QUOTA, limited("500m").refused(EXCEEDED))).outcome is Outcome.CLEAR


async def test_a_quota_that_wants_what_the_pods_do_not_say_names_that() -> None:
    message = 'pods "web-" is forbidden: failed quota: compute: must specify limits.cpu for: web'
    finding = await found(QUOTA, Unwell().refused(message))
    assert finding.facts["unsaid"] == "limits.cpu for: web"


async def test_a_service_that_a_full_quota_kept_from_being_made_is_the_quotas_fault() -> None:
    unwell = Unwell(env=[{"name": "CART_ADDR", "value": "cart:80"}]).stands({"running": {}}, ready=True)
    unwell.add("ResourceQuota", "few", status={"hard": {"services": "1"}, "used": {"services": "1"}})
    labels = {"app": "cart"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "cart"}]}}
    unwell.add("Deployment", "cart", spec={"replicas": 1, "template": template}, status={"readyReplicas": 1})
    finding = await found(QUOTA, unwell)
    assert finding.facts["resource"] == "services"
    assert (
        "service cart, which Deployment/web needs, does not exist there: there is no room to make it" in finding.because
    )


async def test_the_same_missing_service_under_a_quota_with_room_is_not_the_quotas_fault() -> None:
    unwell = Unwell(env=[{"name": "CART_ADDR", "value": "cart:80"}]).stands({"running": {}}, ready=True)
    unwell.add("ResourceQuota", "few", status={"hard": {"services": "2"}, "used": {"services": "1"}})
    assert (await asked(QUOTA, unwell)).outcome is Outcome.CLEAR


async def test_a_service_account_that_does_not_exist_is_found_beside_those_that_do() -> None:
    unwell = Unwell().refused(NO_ACCOUNT)
    unwell.add("ServiceAccount", "web")
    finding = await found(ACCOUNT, unwell)
    assert finding.subject == "shop/Deployment/web"
    assert (finding.facts["account"], finding.facts["accounts"]) == ("webb", ["web"])


async def test_an_account_that_was_made_a_moment_later_is_no_problem() -> None:
    unwell = Unwell().refused(NO_ACCOUNT)
    unwell.add("ServiceAccount", "webb")
    assert (await asked(ACCOUNT, unwell)).outcome is Outcome.CLEAR


async def test_a_webhook_without_endpoints_that_fails_closed_is_found_with_its_service() -> None:
    unwell = Unwell().refused(SILENT)
    hook = {
        "name": "check.policies.example.com",
        "failurePolicy": "Fail",
        "clientConfig": {"service": {"namespace": "guard", "name": "policies"}},
    }
    unwell.webhooks = [{"metadata": {"name": "policies"}, "webhooks": [hook]}]
    unwell.add("Service", "policies", "guard", spec={"selector": {"app": "policies"}, "ports": [{"port": 443}]})
    finding = await found(WEBHOOK, unwell)
    assert finding.subject == "ValidatingWebhookConfiguration/policies"
    assert "it is answered by service guard/policies, which has no ready endpoint" in finding.because


def configured(configuration: str, *names: str, service: str = "policies", policy: str = "Fail") -> dict[str, object]:
    client = {"service": {"namespace": "guard", "name": service}}
    hooks = [{"name": name, "failurePolicy": policy, "clientConfig": client} for name in names]
    return {"metadata": {"name": configuration}, "webhooks": hooks}


async def test_of_several_webhooks_in_a_configuration_only_the_silent_one_is_opened() -> None:
    unwell = Unwell().refused(SILENT)
    unwell.webhooks = [configured("policies", "images.example.com", "labels.example.com", "check.policies.example.com")]
    finding = await found(WEBHOOK, unwell)
    assert json.loads(finding.facts["patch"]) == [
        {"op": "test", "path": "/webhooks/2/name", "value": "check.policies.example.com"},
        {"op": "replace", "path": "/webhooks/2/failurePolicy", "value": "Ignore"},
    ]
    fix = page("Fix", finding)
    assert 'kubectl patch validatingwebhookconfiguration policies --type json --patch \'[{"op":"test"' in fix
    assert "/webhooks/0/" not in fix


async def test_of_webhooks_of_one_name_the_one_is_meant_whose_service_was_called() -> None:
    unwell = Unwell().refused(SILENT)
    name = "check.policies.example.com"
    unwell.webhooks = [
        configured("older", name, service="older"),
        configured("policies", "images.example.com", name, service="policies"),
        configured("watching", name, service="policies", policy="Ignore"),
    ]
    assert (await found(WEBHOOK, unwell)).facts["configuration"] == "policies"


async def test_a_webhook_that_is_not_in_any_configuration_seen_has_no_patch_of_its_own() -> None:
    finding = await found(WEBHOOK, Unwell().refused(SILENT))
    assert finding.facts["patch"] == ""
    assert "/webhooks/<position>/name" in page("Fix", finding)


async def test_a_webhook_that_says_no_has_answered() -> None:
    finding = await found(
        WEBHOOK, Unwell().refused('admission webhook "gate.example.com" denied the request: no limits')
    )
    assert finding.facts["answered"] is True


@pytest.mark.parametrize(("code", "message"), CASES)
async def test_a_refusal_that_has_passed_is_no_symptom(code: str, message: str) -> None:
    """The pod stands: the event is from before."""
    assert (await asked(code, Unwell().refused(message, standing=1))).outcome is Outcome.CLEAR


@pytest.mark.parametrize(("code", "message"), CASES)
async def test_a_refusal_for_another_reason_is_another_questions(code: str, message: str) -> None:
    others = [other for other, told in CASES if other != code]
    for other in others:
        assert (await asked(other, Unwell().refused(message))).outcome is Outcome.CLEAR


@pytest.mark.parametrize("code", [code for code, _ in CASES])
async def test_without_the_events_nothing_is_called_clear(code: str) -> None:
    unwell = Unwell().refused("", ago=timedelta(minutes=1))
    unwell.denied = {"/api/v1/events"}
    assert (await asked(code, unwell)).outcome is Outcome.INCONCLUSIVE


async def test_the_quota_explains_what_its_callers_suffer() -> None:
    unwell = limited().refused(EXCEEDED)
    diagnosis = await diagnosed(unwell)
    roots = [one.finding for one in diagnosis.findings if one.root]
    assert [(one.code, one.severity) for one in roots] == [(QUOTA, Severity.ERROR)]
