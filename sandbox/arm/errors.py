"""All error bodies: ARM and most providers wrap them in `error`; AKS and the activity log do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandbox.arm.answers import Refusal

NOT_FOUND_FIX = "For more details please go to https://aka.ms/ARMResourceNotFoundFix"


def wrapped(status: int, code: str, message: str, *, cause: str | None = None, **more: Any) -> Refusal:
    """An error in ARM's standard `error` envelope."""
    headers = {"x-ms-failure-cause": cause} if cause else {}
    return Refusal(status, {"error": {"code": code, "message": message, **more}}, headers)


def gateway(status: int, code: str, message: str, **more: Any) -> Refusal:
    """An error that ARM returns without calling the provider."""
    return wrapped(status, code, message, cause="gateway", **more)


def aks(status: int, code: str, message: str, *, subcode: str = "", **more: Any) -> Refusal:
    """An error of the AKS provider: no `error` envelope, keys in alphabetical order."""
    body = {"code": code, "details": None, "message": message, "subcode": subcode, **more}
    return Refusal(status, dict(sorted(body.items())), aks=True)


def bare(status: int, code: str, message: str) -> Refusal:
    """An error of the activity log: no `error` envelope."""
    return Refusal(status, {"code": code, "message": message})


# -- authentication and authorization ---------------------------------------------------------------------------


def unauthenticated(tenant: str, code: str, message: str, description: str) -> Refusal:
    challenge = (
        f'Bearer authorization_uri="https://login.windows.net/{tenant}", '
        f'error="invalid_token", error_description="{description}"'
    )
    refusal = gateway(401, code, message)
    refusal.answer.headers["WWW-Authenticate"] = challenge
    return refusal


def not_authorized(client: str, object_id: str, action: str, scope: str) -> Refusal:
    return gateway(
        403,
        "AuthorizationFailed",
        f"The client '{client}' with object id '{object_id}' does not have authorization to perform action "
        f"'{action}' over scope '{scope}' or the scope is invalid. If access was recently granted, please "
        "refresh your credentials.",
    )


def linked_not_authorized(client: str, object_id: str, action: str, scope: str, linked: str, resource: str) -> Refusal:
    return gateway(
        403,
        "LinkedAuthorizationFailed",
        f"The client '{client}' with object id '{object_id}' has permission to perform action '{action}' on scope "
        f"'{scope}'; however, it does not have permission to perform action '{linked}' on the linked scope(s) "
        f"'{resource}' or the linked scope(s) are invalid.",
    )


def denied_by_assignment(
    client: str, object_id: str, action: str, scope: str, *, name: str, assignment: str, at: str
) -> Refusal:
    return gateway(
        403,
        "DenyAssignmentAuthorizationFailed",
        f"The client '{client}' with object id '{object_id}' has permission to perform action '{action}' on "
        f"scope '{scope}'; however, the access is denied because of the deny assignment with name '{name}' "
        f"and Id '{assignment}' at scope '{at}'.",
    )


def subscription_throttled(subscription: str, action: str, wait_s: int) -> Refusal:
    refusal = gateway(
        429,
        "SubscriptionRequestsThrottled",
        f"Number of requests for subscription '{subscription}' and operation '{action}' exceeded the backend storage "
        f"limit. Please try again after '{wait_s}' seconds.",
    )
    refusal.answer.headers["Retry-After"] = str(wait_s)
    return refusal


# -- not found ----------------------------------------------------------------------------------------------------


def subscription_not_found(subscription: str) -> Refusal:
    return gateway(404, "SubscriptionNotFound", f"The subscription '{subscription}' could not be found.")


def group_not_found(group: str) -> Refusal:
    return gateway(404, "ResourceGroupNotFound", f"Resource group '{group}' could not be found.")


def resource_not_found(name: str, group: str | None) -> Refusal:
    under = f" under resource group '{group}'" if group else ""
    return gateway(404, "ResourceNotFound", f"The Resource '{name}'{under} was not found. {NOT_FOUND_FIX}")


def parent_not_found(verb: str, kind: str, parent: str) -> Refusal:
    return gateway(
        404,
        "ParentResourceNotFound",
        f"Failed to perform '{verb}' on resource(s) of type '{kind}', because the parent resource '{parent}' "
        "could not be found.",
    )


# -- bad requests -------------------------------------------------------------------------------------------------


def api_version_missing() -> Refusal:
    return gateway(
        400,
        "MissingApiVersionParameter",
        "The api-version query parameter (?api-version=) is required for all requests.",
    )


def api_version_invalid(version: str, supported: Sequence[str]) -> Refusal:
    return gateway(
        400,
        "InvalidApiVersionParameter",
        f"The api-version '{version}' is invalid. The supported versions are '{','.join(supported)}'.",
    )


def no_registered_provider(
    location: str, version: str, kind: str, versions: Sequence[str], places: Sequence[str]
) -> Refusal:
    return gateway(
        400,
        "NoRegisteredProviderFound",
        f"No registered resource provider found for location '{location}' and API version '{version}' for type "
        f"'{kind}'. The supported api-versions are '{', '.join(versions)}'. The supported locations are "
        f"'{', '.join(places)}'.",
    )


def invalid_namespace(namespace: str) -> Refusal:
    return gateway(404, "InvalidResourceNamespace", f"The resource namespace '{namespace}' is invalid.")


def invalid_type(kind: str, namespace: str, version: str, versions: Sequence[str] = ()) -> Refusal:
    others = f" The supported api-versions are '{','.join(versions)}'." if versions else ""
    return gateway(
        404,
        "InvalidResourceType",
        f"The resource type '{kind}' could not be found in the namespace '{namespace}' for api version '{version}'."
        f"{others}",
    )


def invalid_content(why: str) -> Refusal:
    return gateway(
        400,
        "InvalidRequestContent",
        f"The request content was invalid and could not be deserialized: '{why}'.",
    )


def method_not_allowed(method: str) -> Refusal:
    return gateway(405, "HttpMethodNotAllowed", f"The HTTP method '{method}' is not supported at this resource.")


# -- conflicts ----------------------------------------------------------------------------------------------------


def scope_locked(scope: str, verb: str, locked: Sequence[str]) -> Refusal:
    return gateway(
        409,
        "ScopeLocked",
        f"The scope '{scope}' cannot perform {verb} operation because following scope(s) are locked: "
        f"'{','.join(locked)}'. Please remove the lock and try again.",
    )


def subscription_disabled(subscription: str) -> Refusal:
    return gateway(
        409,
        "ReadOnlyDisabledSubscription",
        f"The subscription '{subscription}' is disabled and therefore marked as read only. You cannot perform "
        "any write actions on this subscription until it is re-enabled.",
    )


def not_registered(namespace: str) -> Refusal:
    message = (
        f"The subscription is not registered to use namespace '{namespace}'. See "
        "https://aka.ms/rps-not-found for how to register subscriptions."
    )
    code = "MissingSubscriptionRegistration"
    return gateway(409, code, message, details=[{"code": code, "target": namespace, "message": message}])


def aks_busy(verb: str, operation: str, started: str) -> Refusal:
    return aks(
        409,
        "OperationNotAllowed",
        f"Operation is not allowed because there's an in progress {verb} operation (operation ID: {operation}) "
        f"on the managed cluster started on UTC {started}. Please wait for it to finish before starting a new "
        "operation. You can also use 'az aks operation-abort ...' to abort the ongoing operation.",
    )


def aks_etag_mismatch() -> Refusal:
    return aks(
        409,
        "EtagMismatch",
        "Operation is not allowed: Another operation is in progress. Please refer "
        "https://aka.ms/aks/aksoperationpreempted to for more details.",
        subcode="PutManagedClusterAndComponents_FailedPrecondition_HCPServerError",
        details=[{"code": "Unspecified", "message": "rpc error: code = FailedPrecondition desc = Etag mismatched"}],
    )


def precondition_failed(sent: str, stored: str, resource: str) -> Refusal:
    detail = {
        "code": "PreconditionFailedEtagMismatch",
        "message": f"Etag provided in if-match header {sent} does not match etag {stored} of resource {resource}.",
    }
    return wrapped(412, "PreconditionFailed", "Precondition failed.", details=[detail])


def network_busy(poll_url: str) -> Refusal:
    return wrapped(
        409,
        "AnotherOperationInProgress",
        "Another operation on this or dependent resource is in progress. To retrieve status of the operation "
        f"use uri: {poll_url}.",
        details=[],
    )
