"""Ingresses and gateways that lead nowhere, or to another service."""

from datetime import timedelta
from typing import Any

import pytest

from handlers.model import Outcome
from tests.handlers.diagnose.bodies import at
from tests.handlers.diagnose.unwell import Unwell
from tests.handlers.diagnose.wire import asked, found

CODE = "gateway-misroute"
MAP = "/api/v1/namespaces/shop/configmaps/edge-gateway"
ROUTES = """
spring:
  cloud:
    gateway:
      routes:
        - id: cart
          uri: lb://${{CART_HOST:cart-service}}
          predicates:
            - Path=/api/v1/cartservice/**
        - id: order
          uri: lb://{order}
          predicates:
            - Path=/api/v1/orderservice/**
"""


def shop(*services: str) -> Unwell:
    """Deployment/web was rolled out lately, so its namespace is looked at; these services stand in it."""
    unwell = Unwell().stands({"running": {"startedAt": at(timedelta(minutes=9))}}, ready=True)
    unwell.warned("Pod", "web-old", "Unhealthy", "Readiness probe failed: refused", count=1)
    for name in services:
        ports = [{"name": "http", "port": 80, "targetPort": 8080}]
        unwell.add("Service", name, spec={"ports": ports, "selector": {"app": name}})
    return unwell


def ingress(unwell: Unwell, service: str, port: dict[str, Any]) -> Unwell:
    path = {"path": "/cart", "backend": {"service": {"name": service, "port": port}}}
    unwell.add("Ingress", "edge", spec={"rules": [{"host": "shop.example.com", "http": {"paths": [path]}}]})
    return unwell


def gateway(order: str) -> Unwell:
    unwell = shop("cart-service", "order-service")
    labels = {"app": "edge-gateway"}
    spec = {
        "containers": [{"name": "gateway", "image": "registry.example.com/edge-gateway:1"}],
        "volumes": [{"name": "settings", "configMap": {"name": "edge-gateway"}}],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    unwell.add("Deployment", "edge-gateway", spec={"replicas": 1, "template": template}, status={"readyReplicas": 1})
    unwell.config_maps[MAP] = {"application.yml": ROUTES.format(order=order)}
    return unwell


@pytest.mark.parametrize(
    ("service", "port", "why"),
    [
        ("basket", {"number": 80}, "no service is called basket in namespace shop"),
        ("cart", {"number": 8080}, "service cart has no port 8080; it has 80, http"),
        ("cart", {"name": "grpc"}, "service cart has no port grpc; it has 80, http"),
    ],
)
async def test_an_ingress_that_leads_nowhere_is_found(service: str, port: dict[str, Any], why: str) -> None:
    finding = await found(CODE, ingress(shop("cart"), service, port))
    assert (finding.subject, finding.facts["why"]) == ("shop/Ingress/edge", why)


@pytest.mark.parametrize("port", [{"number": 80}, {"name": "http"}])
async def test_an_ingress_to_a_service_that_exists_is_clear(port: dict[str, Any]) -> None:
    assert (await asked(CODE, ingress(shop("cart"), "cart", port))).outcome is Outcome.CLEAR


HTTP_ROUTES = "/apis/gateway.networking.k8s.io/v1/httproutes"


def http_route(unwell: Unwell, **ref: Any) -> Unwell:
    told = {"type": "ResolvedRefs", "status": "False", "reason": "BackendNotFound", "message": "service not found"}
    rules = [{"matches": [{"path": {"type": "PathPrefix", "value": "/cart"}}], "backendRefs": [ref]}]
    route = {
        "metadata": {"name": "edge", "namespace": "shop"},
        "spec": {"hostnames": ["shop.example.com"], "rules": rules},
    }
    unwell.more_inside[HTTP_ROUTES] = [route | {"status": {"parents": [{"conditions": [told]}]}}]
    return unwell


async def test_an_http_route_to_a_service_that_is_not_there_is_found_with_its_gateways_word() -> None:
    finding = await found(CODE, http_route(shop("cart"), name="basket", port=80))
    assert finding.subject == "shop/HTTPRoute/edge"
    assert finding.because == (
        "HTTPRoute edge sends shop.example.com/cart to basket:80",
        "no service is called basket in namespace shop",
        "its gateway says BackendNotFound: service not found",
    )


@pytest.mark.parametrize(
    "ref",
    [
        {"name": "cart", "port": 80},
        {"name": "basket", "port": 80, "namespace": "orders"},
        {"name": "basket", "kind": "ServiceImport", "group": "multicluster.x-k8s.io"},
    ],
)
async def test_an_http_route_to_what_is_there_or_was_not_read_is_clear(ref: dict[str, Any]) -> None:
    assert (await asked(CODE, http_route(shop("cart"), **ref))).outcome is Outcome.CLEAR


async def test_a_route_that_leads_to_another_service_is_found() -> None:
    finding = await found(CODE, gateway("cart-service"))
    assert finding.subject == "shop/Deployment/edge-gateway"
    assert (finding.facts["service"], finding.facts["meant"]) == ("cart-service", "order-service")


async def test_a_route_that_leads_where_its_path_says_is_clear() -> None:
    assert (await asked(CODE, gateway("order-service"))).outcome is Outcome.CLEAR


async def test_without_the_routes_or_the_services_nothing_is_called_clear() -> None:
    for denied in ("/configmaps/edge-gateway", "/services", "/ingresses", "/httproutes"):
        unwell = gateway("order-service")
        unwell.denied = {denied}
        assert (await asked(CODE, unwell)).outcome is Outcome.INCONCLUSIVE, denied
