"""Log blocks of Azure Service Operator, as people paste them: code, message, resource id and time are read."""

from __future__ import annotations

import json

from bot.triage.explain import Explanation, explain
from runbooks.library import CHECK, FIX, Library

LIBRARY = Library.load()
GROUP = "/subscriptions/00000000-0000-4000-8000-000000000001/resourceGroups/rg-shop"
CACHE = f"{GROUP}/providers/Microsoft.Cache/redis/cache-shop"
RULER = "-" * 80
ANSWER = f"""deleting resource "{CACHE}": DELETE https://management.azure.com{CACHE}
{RULER}
RESPONSE 400: 400 Bad Request
ERROR CODE: BadRequest
{RULER}
{{
  "error": {{
    "code": "BadRequest",
    "message": "Cannot delete 'cache-shop' since it has linked servers associated with it.\\r\\nRequestID=8e55c6c4",
    "target": null
  }}
}}
{RULER}
"""
KLOG = (
    f'I2026-05-25T21:13:41Z] cache_redis "msg"="Error during Delete" "err"="{ANSWER}" '
    'name="cache-shop" namespace="shop" azureName="cache-shop" action="BeginDelete"'
)
JSON = json.dumps(
    {
        "ts": "2026-05-25T21:13:41.331Z",
        "logger": "controllers.RedisController",
        "msg": "Error during Delete",
        "namespace": "shop",
        "name": "cache-shop",
        "action": "BeginDelete",
        "error": ANSWER,
    }
)
DESCRIBED = f"""Name:         cache-shop
Namespace:    shop
Annotations:  serviceoperator.azure.com/resource-id: {CACHE}
API Version:  cache.azure.com/v1api20241101
Kind:         Redis
Status:
  Conditions:
    Last Transition Time:  2026-05-25T21:13:41Z
    Message:               Cannot delete 'cache-shop' since it has linked servers associated with it.
    Observed Generation:   1
    Reason:                BadRequest
    Severity:              Error
    Status:                False
    Type:                  Ready
"""
LINKED = (
    "ASO on prod-weu: The client 'app' with object id '3a0c9d1e-1111-4222-8333-444455556666' has permission to perform "
    "action 'Microsoft.ContainerService/managedClusters/write' on scope '/subscriptions/0/resourceGroups/rg-shop'; "
    "however, it does not have permission to perform action(s) 'Microsoft.Authorization/roleAssignments/write' on the "
    "linked scope(s) '/subscriptions/0/resourceGroups/rg-shared' (respectively). LinkedAuthorizationFailed"
)


def read(text: str) -> Explanation:
    explained = explain(text, LIBRARY)
    assert explained.matches[0].runbook.code == "aso-creation-failed"
    return explained


def test_a_block_of_its_plain_log_gives_code_message_id_name_and_time() -> None:
    facts = read(KLOG).facts
    assert facts["error_code"] == "BadRequest"
    assert str(facts["error_message"]).startswith("Cannot delete 'cache-shop' since it has linked servers")
    assert facts["resource_id"] == CACHE
    assert facts["time"] == "2026-05-25T21:13:41Z"
    assert (facts["namespace"], facts["name"]) == ("shop", "cache-shop")


def test_a_line_of_its_json_log_gives_the_same() -> None:
    explained = read(JSON)
    facts = explained.facts
    assert facts["error_code"] == "BadRequest"
    assert facts["resource_id"] == CACHE
    assert facts["time"] == "2026-05-25T21:13:41.331Z"
    assert (facts["namespace"], facts["name"]) == ("shop", "cache-shop")
    assert explained.error is not None
    assert explained.error.code == "BadRequest"


def test_what_kubectl_describes_gives_the_same() -> None:
    facts = read(DESCRIBED).facts
    assert facts["error_code"] == "BadRequest"
    assert facts["resource_id"] == CACHE
    assert facts["time"] == "2026-05-25T21:13:41Z"
    assert (facts["kind"], facts["namespace"], facts["name"]) == ("Redis", "shop", "cache-shop")


def test_what_support_needs_stands_on_the_page_with_its_values() -> None:
    explained = read(KLOG)
    page = explained.matches[0].runbook.outline(FIX, explained.facts)
    assert "`2026-05-25T21:13:41Z`" in page
    assert CACHE in page
    assert CACHE in explained.matches[0].runbook.outline(CHECK, explained.facts)


def test_of_a_linked_refusal_the_permission_that_is_missing_is_read() -> None:
    explained = explain(LINKED, LIBRARY)
    assert explained.matches[0].runbook.code == "aso-auth-error"
    assert explained.facts["permission"] == "Microsoft.Authorization/roleAssignments/write"
    assert explained.facts["scope"] == "/subscriptions/0/resourceGroups/rg-shared"
