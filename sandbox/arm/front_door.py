"""The endpoints of ARM itself: tenants, subscriptions, groups, locations, providers, and the cloud's metadata."""

from __future__ import annotations

from typing import Any

from sandbox.arm import errors
from sandbox.arm.answers import Answer
from sandbox.arm.providers import catalogue, provider_body
from sandbox.arm.site import Call, Site

_HOME_OF = {"westeurope": ("Europe", "Netherlands"), "northeurope": ("Europe", "Ireland")}


def list_tenants(site: Site, call: Call) -> Answer:
    tenant = site.world.tenant_id
    row = {
        "id": f"/tenants/{tenant}",
        "tenantId": tenant,
        "countryCode": "NL",
        "displayName": "Contoso",
        "domains": ["contoso.onmicrosoft.com"],
        "tenantCategory": "Home",
        "defaultDomain": "contoso.onmicrosoft.com",
        "tenantType": "AAD",
    }
    return Answer(200, {"value": [row]})


def list_subscriptions(site: Site, call: Call) -> Answer:
    """One subscription, or all that the caller may read: ones it cannot read are silently left out."""
    if call.place.subscription:
        return Answer(200, site.world.resources[call.place.key])
    found = [
        {"tenantId": site.world.tenant_id, "managedByTenants": []} | body
        for key, body in site.world.resources.items()
        if key.count("/") == 2 and key.startswith("/subscriptions/")
        if site.access.may(call.principal, call.action, body["id"])
    ]
    return Answer(200, {"value": found, "count": {"type": "Total", "value": len(found)}})


def list_groups(site: Site, call: Call) -> Answer:
    """One resource group, or all in the subscription."""
    if call.place.group:
        body = site.resource(call.place.path)
        if call.method == "HEAD":
            return Answer(404 if body is None else 204)
        if body is None:
            raise errors.group_not_found(call.place.group)
        return Answer(200, body)
    above = f"/subscriptions/{call.place.subscription}/resourcegroups/".lower()
    groups = [body for key, body in site.world.resources.items() if key.startswith(above) and key.count("/") == 4]
    return site.page(call, groups)


def list_locations(site: Site, call: Call) -> Answer:
    rows = [
        {
            "id": f"/subscriptions/{call.place.subscription}/locations/{name}",
            "name": name,
            "type": "Region",
            "displayName": display,
            "regionalDisplayName": f"({_HOME_OF.get(name, ('US', ''))[0]}) {display}",
            "metadata": {"regionType": "Physical", "regionCategory": "Recommended"},
        }
        for name, display in catalogue().locations.items()
    ]
    return Answer(200, {"value": rows})


def registration_state(site: Site, subscription: str, namespace: str) -> str:
    """The provider's registration state: Registered unless the world overrides it."""
    stored = site.resource(f"/subscriptions/{subscription}/providers/{namespace}") or {}
    return str(stored.get("registrationState", "Registered"))


def _provider(site: Site, subscription: str | None, namespace: str) -> dict[str, Any]:
    state = registration_state(site, subscription, namespace) if subscription else ""
    return provider_body(namespace, subscription, state, site.world.cloud_as_of)


def list_providers(site: Site, call: Call) -> Answer:
    names = catalogue().namespaces.values()
    return site.page(call, [_provider(site, call.place.subscription, name) for name in names])


def one_provider(site: Site, call: Call) -> Answer:
    name = catalogue().namespace(call.place.namespace or "")
    if name is None:
        raise errors.invalid_namespace(call.place.namespace or "")
    return Answer(200, _provider(site, call.place.subscription, name))


def register_provider(site: Site, call: Call) -> Answer:
    """Register a provider: this response says Registering, the next read says Registered."""
    name = catalogue().namespace(call.place.namespace or "") or ""
    identity = f"/subscriptions/{call.place.subscription}/providers/{name}"
    was = registration_state(site, call.place.subscription or "", name)
    site.world.put({"id": identity, "namespace": name, "registrationState": "Registered"})
    now = was if was == "Registered" else "Registering"
    return Answer(200, provider_body(name, call.place.subscription, now, site.world.cloud_as_of))


def metadata(url: str, tenant: str, version: str) -> Answer:
    """`/metadata/endpoints`, in the format of a custom cloud, for `az cloud register`."""
    audience = url
    login = f"{url}/adfs"
    if version == "2015-01-01":
        old = {"loginEndpoint": f"{login}/", "audiences": [audience]}
        return Answer(
            200,
            {
                "galleryEndpoint": url,
                "graphEndpoint": url,
                "portalEndpoint": url,
                "authentication": old,
            },
        )
    body = {
        "portal": url,
        "authentication": {
            "loginEndpoint": login,
            "audiences": [audience],
            "tenant": tenant,
            "identityProvider": "ADFS",
        },
        "graphAudience": url,
        "microsoftGraphResourceId": url,
        "graph": url,
        "name": "AzureSandbox",
        "suffixes": {"keyVaultDns": "vault.sandbox.invalid", "storage": "storage.sandbox.invalid"},
        "batch": url,
        "resourceManager": url,
        "sqlManagement": url,
        "vmImageAliasDoc": f"{url}/aliases.json",
        "gallery": url,
    }
    # This version lists every cloud; the others describe only their own.
    return Answer(200, [body] if version == "2019-05-01" else body)
