"""What Azure Service Operator says of its resources, and what is made of it."""

from __future__ import annotations

from datetime import timedelta

from handlers.model import Check, Finding, Outcome, Severity, Why
from runbooks.library import CHECK, FIX
from tests.handlers.diagnose.bodies import CLUSTER
from tests.handlers.diagnose.inside import page
from tests.handlers.diagnose.operator_resources import AZURE, DEFINITIONS, WithOperator
from tests.handlers.diagnose.wire import Azure, asked

CREATION, IDENTITY = "aso-creation-failed", "aso-auth-error"
WAITS, BUSY = "aso-waiting-precondition", "aso-transient-cluster-state"
LINKED = "Cannot delete 'cache-shop' since it has linked servers associated with it."
DENIED = (
    "The client '2f0c9d1e-1111-4222-8333-444455556666' with object id '3a0c9d1e-1111-4222-8333-444455556666' does not "
    "have authorization to perform action 'Microsoft.Authorization/roleAssignments/write' over scope "
    f"'{AZURE}/rg-shop' or the scope is invalid."
)
BUSY_CLUSTER = 'Managed cluster "one" is in provisioning state "Updating"'
CACHE = {"serviceoperator.azure.com/resource-id": f"{AZURE}/rg-shop/providers/Microsoft.Cache/redis/cache-shop"}
MINUTE = timedelta(minutes=1)


def no_owner(name: str, kind: str) -> str:
    return f'Owner "{name}, Group/Kind: {kind}" cannot be found. Progress is blocked until the owner is created.'


async def looked(azure: Azure) -> Check:
    return await asked("aso-resources", azure)


async def the_finding(azure: Azure, code: str) -> Finding:
    check = await looked(azure)
    assert check.outcome is Outcome.FOUND, check.why
    assert [one.code for one in check.findings] == [code]
    return check.findings[0]


# -- without the operator, and with it at rest --------------------------------------------------------------------


async def test_a_cluster_without_the_operator_is_asked_one_question() -> None:
    azure = WithOperator()
    asked_for: list[str] = []
    answer = azure.inside
    azure.inside = lambda path: (asked_for.append(path), answer(path))[1]  # type: ignore[method-assign]
    check = await looked(azure)
    assert check.outcome is Outcome.NOT_APPLICABLE
    assert check.why == "Azure Service Operator is not installed in one"
    assert DEFINITIONS in asked_for
    assert "/apis" not in asked_for


async def test_where_everything_is_ready_or_being_worked_on_nothing_is_wrong() -> None:
    azure = WithOperator()
    azure.says("ResourceGroup", "rg-shop")
    azure.says(
        "Redis", "cache-shop", "Reconciling", "The resource is in the process of being reconciled", severity="Info"
    )
    azure.says("Disk", "data", "Deleting", "The resource is being deleted", severity="Info")
    check = await looked(azure)
    assert check.outcome is Outcome.CLEAR
    assert check.why == "3 resources of Azure Service Operator, 1 Ready, 2 being worked on"


async def test_a_resource_that_was_made_a_minute_ago_has_no_condition_yet() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", conditions=[], created=MINUTE)
    assert (await looked(azure)).outcome is Outcome.CLEAR


async def test_a_resource_without_a_condition_for_long_leaves_the_question_open() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", conditions=[])
    check = await looked(azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert "platform/Redis/cache-shop" in check.why
    assert "has written no condition" in check.why


# -- refused ------------------------------------------------------------------------------------------------------


async def test_what_azure_refuses_is_found_with_its_code_its_text_and_that_the_operator_gave_up() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", "BadRequest", LINKED, severity="Error", notes=CACHE)
    found = await the_finding(azure, CREATION)
    assert found.subject == "platform/Redis/cache-shop"
    assert found.because == (
        "platform/Redis/cache-shop has not been ready since 2026-11-18 02:27 UTC (40 min ago): BadRequest",
        f"Azure said: BadRequest: {LINKED}",
        "severity Error: Azure Service Operator has given up until the resource is changed",
    )
    assert found.facts["kind"] == "redis.cache.azure.com"
    assert found.facts["resource_id"] == CACHE["serviceoperator.azure.com/resource-id"]
    assert "kubectl describe redis.cache.azure.com cache-shop --namespace platform" in page(CHECK, found)


async def test_a_refusal_that_is_a_minute_old_and_tried_again_is_not_reported_yet() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", "Conflict", "Another operation is in progress.", ago=MINUTE)
    assert (await looked(azure)).outcome is Outcome.CLEAR


async def test_a_refusal_that_is_tried_again_for_long_is_reported_with_its_tries() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", "Conflict", "Another operation is in progress.", ago=MINUTE)
    azure.failed("Redis", "cache-shop", "Reason: Conflict, Severity: Warning, Cause: Another operation", 14)
    found = await the_finding(azure, CREATION)
    assert "since 2026-11-18 02:17 UTC" in found.because[0]
    assert "tries again by itself; 14 failed tries in the last hour" in found.because[2]


async def test_between_two_tries_the_events_tell_what_the_condition_has_forgotten() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", "Reconciling", severity="Info", ago=MINUTE)
    azure.failed(
        *("Redis", "cache-shop"),
        "Reason: ResourceQuotaExceeded, Severity: Warning, RetryClassification: RetrySlow, Cause: 10 of 10 caches",
    )
    found = await the_finding(azure, CREATION)
    assert found.because[1] == "Azure said: ResourceQuotaExceeded: 10 of 10 caches"


async def test_failures_that_ended_before_it_was_made_are_no_problem_and_are_told() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", ago=5 * MINUTE, created=40 * MINUTE)
    azure.failed("Redis", "cache-shop", "Reason: ParentResourceNotFound, Severity: Warning, Cause: no", 9, last=6)
    check = await looked(azure)
    assert check.outcome is Outcome.CLEAR
    assert check.why.endswith("platform/Redis/cache-shop is Ready after 9 tries that failed, the last at 03:01 UTC")


async def test_what_was_ready_before_and_fails_again_and_again_is_reported_as_that() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", ago=2 * MINUTE)
    azure.failed("Redis", "cache-shop", "Reason: Conflict, Severity: Warning, Cause: Another operation", 9, last=3)
    found = await the_finding(azure, WAITS)
    assert found.facts["cause"] == "flapping"
    assert "is Ready, and 9 tries to reconcile it failed in the last hour" in found.because[0]


async def test_an_error_about_an_older_spec_is_no_verdict_on_the_new_one() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop", "BadRequest", LINKED, severity="Error", generation=3)
    assert (await looked(azure)).outcome is Outcome.CLEAR


async def test_one_policy_that_refuses_forty_resources_is_one_problem() -> None:
    azure = WithOperator()
    for number in range(40):
        name = f"st-{number:03}"
        told = f"Resource '{name}' was disallowed by policy. Policy identifiers: 'no-public-storage'."
        azure.says("StorageAccount", name, "RequestDisallowedByPolicy", told, severity="Error")
    azure.says("StorageAccount", "st-other", "StorageAccountAlreadyTaken", "The name is taken.", severity="Error")
    check = await looked(azure)
    assert len(check.findings) == 2
    policy = check.findings[0]
    assert len(policy.affects) == 39
    assert "39 more resources have the same problem: " in policy.because[3]
    assert "and 34 more" in policy.because[3]
    assert policy.facts["page"] == "request-disallowed-by-policy"
    assert "request-disallowed-by-policy" in page(FIX, policy)


async def test_of_many_different_problems_five_are_named_and_the_rest_is_counted() -> None:
    azure = WithOperator()
    for number in range(8):
        azure.says("Disk", f"disk-{number}", f"Refusal{number}", "no", severity="Error")
    check = await looked(azure)
    assert len(check.findings) == 5
    assert check.findings[-1].because[-1].startswith("3 more problems of this kind: platform/Disk/disk-5")


async def test_an_error_wrapped_in_another_is_read_to_its_innermost_layer() -> None:
    azure = WithOperator()
    inner = (
        '{"error": {"code": "InvalidTemplateDeployment", "message": "The template is not valid", "details": [{"code":'
    )
    inner += ' "ScopeLocked", "message": "The scope \'/subscriptions/x\' cannot perform write operation"}]}}'
    azure.says("Redis", "cache-shop", "InvalidTemplateDeployment", inner, severity="Error")
    found = await the_finding(azure, CREATION)
    assert found.because[0].endswith(": ScopeLocked")
    assert found.facts["page"] == "resource-lock"


# -- identity -----------------------------------------------------------------------------------------------------


async def test_a_missing_permission_is_found_with_identity_scope_and_credential() -> None:
    azure = WithOperator()
    notes = {"serviceoperator.azure.com/credential-from": "aso-team"}
    azure.says("RoleAssignment", "pull", "AuthorizationFailed", DENIED, notes=notes)
    found = await the_finding(azure, IDENTITY)
    assert found.because[0].endswith(
        "identity 3a0c9d1e-1111-4222-8333-444455556666 lacks Microsoft.Authorization/roleAssignments/write "
        f"on {AZURE}/rg-shop"
    )
    assert found.because[2] == "credential: secret aso-team in namespace platform (annotation credential-from)"
    assert found.facts["permission"] == "Microsoft.Authorization/roleAssignments/write"
    assert "--assignee 3a0c9d1e-1111-4222-8333-444455556666" in page(FIX, found)


async def test_without_the_annotation_the_credential_is_said_to_be_unseen() -> None:
    azure = WithOperator()
    azure.says("RoleAssignment", "pull", "AuthorizationFailed", DENIED)
    found = await the_finding(azure, IDENTITY)
    assert found.because[2] == (
        "credential: the namespace's secret aso-credential or the global one (not looked: secrets are never read)"
    )


async def test_of_a_linked_refusal_the_permission_that_is_missing_is_named_not_the_one_that_is_there() -> None:
    azure = WithOperator()
    registry = f"{AZURE}/rg-shared/providers/Microsoft.ContainerRegistry/registries/shared"
    told = (
        "The client 'app' with object id '3a0c9d1e-1111-4222-8333-444455556666' has permission to perform action "
        f"'Microsoft.ContainerService/managedClusters/write' on scope '{AZURE}/rg-shop'; however, it does not have "
        "permission to perform action(s) 'Microsoft.Authorization/roleAssignments/write' on the linked scope(s) "
        f"'{registry}' (respectively) or the linked scope(s) are invalid."
    )
    azure.says("ManagedCluster", "one", "LinkedAuthorizationFailed", told)
    found = await the_finding(azure, IDENTITY)
    assert found.facts["permission"] == "Microsoft.Authorization/roleAssignments/write"
    assert found.facts["scope"] == registry


async def test_one_identity_without_one_permission_is_one_problem() -> None:
    azure = WithOperator()
    for number in range(12):
        azure.says("RoleAssignment", f"pull-{number}", "AuthorizationFailed", DENIED.replace("rg-shop", f"rg-{number}"))
    found = await the_finding(azure, IDENTITY)
    assert len(found.affects) == 11


async def test_a_policy_that_answers_403_is_no_missing_permission() -> None:
    azure = WithOperator()
    told = "RESPONSE 403: 403 Forbidden ERROR CODE: RequestDisallowedByPolicy Resource was disallowed by policy."
    azure.says("Redis", "cache-shop", "RequestDisallowedByPolicy", told, severity="Error")
    assert (await the_finding(azure, CREATION)).facts["page"] == "request-disallowed-by-policy"


async def test_an_expired_client_secret_is_a_problem_of_the_identity() -> None:
    azure = WithOperator()
    told = "ClientSecretCredential authentication failed. AADSTS7000222: The provided client secret keys are expired."
    azure.says("Redis", "cache-shop", "UnknownError", told)
    found = await the_finding(azure, IDENTITY)
    assert found.facts["cause"] == "sign-in"
    assert "AADSTS7000222" in found.because[0]


async def test_a_credential_whose_secret_is_missing_is_no_secret_that_a_resource_waits_for() -> None:
    azure = WithOperator()
    notes = {"serviceoperator.azure.com/credential-from": "aso-team"}
    told = 'credential secret not found: secrets "aso-team" not found'
    azure.says("Redis", "cache-shop", "SecretNotFound", told, notes=notes)
    found = await the_finding(azure, IDENTITY)
    assert found.facts["cause"] == "secret"


# -- waiting ------------------------------------------------------------------------------------------------------


async def test_an_owner_that_does_not_exist_is_found_once_for_all_that_wait_and_with_the_nearest_name() -> None:
    azure = WithOperator()
    for name in ("orders", "carts"):
        azure.says(
            *("FlexibleServersDatabase", name, "WaitingForOwner"),
            no_owner("pg-shop", "dbforpostgresql.azure.com/FlexibleServer"),
            owner={"name": "pg-shop"},
        )
    azure.says("FlexibleServer", "pg-shopp")
    found = await the_finding(azure, WAITS)
    assert found.severity is Severity.WARNING
    assert found.because[0] == (
        "platform/FlexibleServersDatabase/carts has waited for its owner FlexibleServer pg-shop "
        "since 2026-11-18 02:27 UTC (40 min ago)"
    )
    assert found.because[1] == "there is FlexibleServer pg-shopp in namespace platform"
    assert found.affects == ("platform/FlexibleServersDatabase/orders",)


async def test_an_owner_in_another_namespace_is_named_as_that() -> None:
    azure = WithOperator()
    told = no_owner("rg-shop", "resources.azure.com/ResourceGroup")
    azure.says("Redis", "cache-shop", "WaitingForOwner", told, owner={"name": "rg-shop"})
    azure.says("ResourceGroup", "rg-shop", namespace="shared")
    found = await the_finding(azure, WAITS)
    assert found.because[1] == (
        "ResourceGroup rg-shop is in namespace shared: owner and resource must be in the same one"
    )


async def test_what_waits_for_an_owner_that_azure_still_makes_waits_rightly() -> None:
    azure = WithOperator()
    told = no_owner("pg-shop", "dbforpostgresql.azure.com/FlexibleServer")
    azure.says("FlexibleServersDatabase", "orders", "WaitingForOwner", told, owner={"name": "pg-shop"})
    azure.says("FlexibleServer", "pg-shop", "Reconciling", severity="Info")
    assert (await looked(azure)).outcome is Outcome.CLEAR


async def test_what_waits_for_an_owner_that_failed_is_told_with_the_owner_and_up_the_whole_chain() -> None:
    azure = WithOperator()
    azure.says("ResourceGroup", "rg-shop", "InvalidResourceGroupLocation", "no such region", severity="Error")
    told = no_owner("rg-shop", "resources.azure.com/ResourceGroup")
    azure.says("FlexibleServer", "pg-shop", "WaitingForOwner", told, owner={"name": "rg-shop"})
    told = no_owner("pg-shop", "dbforpostgresql.azure.com/FlexibleServer")
    azure.says("FlexibleServersDatabase", "orders", "WaitingForOwner", told, owner={"name": "pg-shop"})
    found = await the_finding(azure, CREATION)
    assert found.subject == "platform/ResourceGroup/rg-shop"
    assert found.because[-1] == (
        "2 resources wait for that: platform/FlexibleServer/pg-shop, platform/FlexibleServersDatabase/orders"
    )


async def test_owners_that_wait_for_each_other_do_not_hang_the_check() -> None:
    azure = WithOperator()
    told = no_owner("b", "cache.azure.com/Redis")
    azure.says("Redis", "a", "WaitingForOwner", told, owner={"name": "b", "kind": "Redis"})
    azure.says("Redis", "b", "WaitingForOwner", told, owner={"name": "a", "kind": "Redis"})
    assert (await looked(azure)).outcome is Outcome.CLEAR


async def test_what_waits_although_its_owner_is_ready_for_long_was_not_looked_at_again() -> None:
    azure = WithOperator()
    told = no_owner("rg-shop", "resources.azure.com/ResourceGroup")
    azure.says("Redis", "cache-shop", "WaitingForOwner", told, owner={"name": "rg-shop"})
    azure.says("ResourceGroup", "rg-shop")
    found = await the_finding(azure, WAITS)
    assert found.facts["cause"] == "stale"
    assert "its owner platform/ResourceGroup/rg-shop is Ready" in found.because[1]


async def test_an_owner_that_became_ready_a_minute_ago_is_no_reason_to_worry() -> None:
    azure = WithOperator()
    told = no_owner("rg-shop", "resources.azure.com/ResourceGroup")
    azure.says("Redis", "cache-shop", "WaitingForOwner", told, owner={"name": "rg-shop"})
    azure.says("ResourceGroup", "rg-shop", ago=MINUTE)
    assert (await looked(azure)).outcome is Outcome.CLEAR


async def test_a_missing_secret_is_named_without_reading_any() -> None:
    azure = WithOperator()
    told = "failed resolving secret references: platform/vm-password does not exist"
    azure.says("FlexibleServer", "pg-shop", "SecretNotFound", told)
    found = await the_finding(azure, WAITS)
    assert found.because[0].startswith("platform/FlexibleServer/pg-shop has waited for secret vm-password since")
    assert found.facts["missing"] == "vm-password"


# -- a managed cluster at work ------------------------------------------------------------------------------------


async def test_a_pool_held_back_by_a_cluster_that_azure_also_has_as_busy_waits() -> None:
    azure = WithOperator()
    azure.cluster["provisioningState"] = "Upgrading"
    for name in ("apps", "batch"):
        pool = {"serviceoperator.azure.com/resource-id": f"{CLUSTER}/agentPools/{name}"}
        azure.says("ManagedClustersAgentPool", name, "ReconciliationBlocked", BUSY_CLUSTER, notes=pool)
    found = await the_finding(azure, BUSY)
    assert found.severity is Severity.INFO
    assert found.because[1] == "Azure has one as Upgrading: it refuses other writes until that ends"
    assert found.affects == ("platform/ManagedClustersAgentPool/batch",)
    assert found.facts["state"] == "Upgrading"


async def test_a_cluster_that_azure_has_as_done_for_long_was_not_looked_at_again() -> None:
    azure = WithOperator()
    pool = {"serviceoperator.azure.com/resource-id": f"{CLUSTER}/agentPools/apps"}
    azure.says("ManagedClustersAgentPool", "apps", "ReconciliationBlocked", BUSY_CLUSTER, notes=pool)
    found = await the_finding(azure, WAITS)
    assert found.facts["cause"] == "stale"
    assert "Azure has one as Succeeded" in found.because[1]


async def test_a_cluster_that_is_done_by_now_and_is_looked_at_again_is_no_problem() -> None:
    azure = WithOperator()
    pool = {"serviceoperator.azure.com/resource-id": f"{CLUSTER}/agentPools/apps"}
    azure.says("ManagedClustersAgentPool", "apps", "ReconciliationBlocked", BUSY_CLUSTER, notes=pool)
    azure.failed(
        "ManagedClustersAgentPool", "apps", f"Reason: ReconciliationBlocked, Severity: Warning, Cause: {BUSY_CLUSTER}"
    )
    check = await looked(azure)
    assert check.outcome is Outcome.CLEAR
    assert "one is Succeeded: platform/ManagedClustersAgentPool/apps goes on at the next try" in check.why


async def test_another_cluster_in_azure_is_asked_by_the_id_of_the_owner() -> None:
    azure = WithOperator()
    other = f"{AZURE}/rg-two/providers/Microsoft.ContainerService/managedClusters/two"
    azure.more[other] = {"id": other, "name": "two", "properties": {"provisioningState": "Creating"}}
    azure.says("ManagedCluster", "two", notes={"serviceoperator.azure.com/resource-id": other})
    told = BUSY_CLUSTER.replace("one", "two")
    azure.says("ManagedClustersAgentPool", "apps", "ReconciliationBlocked", told, owner={"name": "two"})
    found = await the_finding(azure, BUSY)
    assert (found.facts["cluster"], found.facts["state"]) == ("two", "Creating")


async def test_a_cluster_that_may_not_be_read_leaves_the_question_open() -> None:
    azure = WithOperator()
    other = f"{AZURE}/rg-two/providers/Microsoft.ContainerService/managedClusters/two"
    azure.denied = {"managedClusters/two"}
    pool = {"serviceoperator.azure.com/resource-id": f"{other}/agentPools/apps"}
    azure.says("ManagedClustersAgentPool", "apps", "ReconciliationBlocked", BUSY_CLUSTER, notes=pool)
    check = await looked(azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.unseen[0].why is Why.DENIED


# -- what could not be seen ---------------------------------------------------------------------------------------


async def test_definitions_that_may_not_be_listed_leave_the_question_open() -> None:
    azure = WithOperator()
    azure.denied = {DEFINITIONS}
    check = await looked(azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.unseen[0].grant == "list customresourcedefinitions.apiextensions.k8s.io (cluster scope)"


async def test_one_kind_that_may_not_be_listed_leaves_the_question_open_and_names_the_group() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop")
    azure.says("ResourceGroup", "rg-shop")
    azure.denied = {"cache.azure.com"}
    check = await looked(azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert check.unseen[0].grant == "list redis.cache.azure.com (cluster scope)"


async def test_an_owner_of_a_kind_that_may_not_be_listed_is_not_called_missing() -> None:
    azure = WithOperator()
    told = no_owner("rg-shop", "resources.azure.com/ResourceGroup")
    azure.says("Redis", "cache-shop", "WaitingForOwner", told, owner={"name": "rg-shop"})
    azure.says("ResourceGroup", "rg-shop")
    azure.denied = {"resourcegroups"}
    check = await looked(azure)
    assert check.outcome is Outcome.INCONCLUSIVE
    assert not check.findings


async def test_an_owner_is_missing_although_a_kind_that_it_is_not_of_may_not_be_listed() -> None:
    azure = WithOperator()
    told = no_owner("rg-shop", "resources.azure.com/ResourceGroup")
    azure.says("Redis", "cache-shop", "WaitingForOwner", told, owner={"name": "rg-shop"})
    azure.says("ResourceGroup", "rg-other")
    azure.says("Disk", "data")
    azure.denied = {"compute.azure.com"}
    await the_finding(azure, WAITS)


async def test_without_the_events_nothing_is_clear_and_what_is_said_is_still_found() -> None:
    azure = WithOperator()
    azure.says("Redis", "cache-shop")
    azure.denied = {"/api/v1/events"}
    assert (await looked(azure)).outcome is Outcome.INCONCLUSIVE
    azure.says("Disk", "data", "BadRequest", "no", severity="Error")
    assert (await looked(azure)).outcome is Outcome.FOUND


async def test_a_kind_is_read_at_the_version_in_which_it_is_stored() -> None:
    """Reading any other needs an answer of the operator's conversion webhook, which may be what is broken."""
    azure = WithOperator()
    azure.says("Redis", "cache-shop")
    azure.denied = {"/apis/cache.azure.com/v1api20240901/", "preview"}
    assert (await looked(azure)).outcome is Outcome.CLEAR
