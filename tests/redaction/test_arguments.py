"""Arguments of containers, in a tree: values after secret-bearing flags are removed, the rest is kept."""

from __future__ import annotations

from typing import Any

import pytest

from handlers.clients.kube.clean import without_secrets
from handlers.clients.redact import redact

SECRET = "hunter2-Horse9"


@pytest.mark.parametrize(
    "container",
    [
        {"args": ["--db-host", "db", "--db-password", SECRET, "--verbose"]},
        {"args": [f"--db-password={SECRET}", "--port=8080"]},
        {"args": ["-Password", SECRET]},
        {"command": ["mysql"], "args": ["-h", "db", f"-p{SECRET}"]},
        {"command": ["/usr/bin/curl", "-u", f"bob:{SECRET}", "https://registry.example.com/"]},
        {"command": ["az", "login", "--service-principal", "-u", "x", "-p", SECRET]},
        {"command": ["sh", "-c", f"mysql -p{SECRET} -e 'select 1'"]},
    ],
)
def test_an_argument_that_is_secret_goes(container: dict[str, Any]) -> None:
    clean = redact({"spec": {"containers": [container]}})
    assert SECRET not in str(clean)
    assert "[redacted:" in str(clean)
    assert redact(clean) == clean


@pytest.mark.parametrize(
    "container",
    [
        {"args": ["--port", "8080", "--token-ttl", "10m", "-p", "80", "--kubeconfig", "/etc/kubernetes/kubeconfig"]},
        {"command": ["mysql"], "args": ["-h", "db", "-p", "shop"]},
        {"command": ["az", "aks", "show", "-n", "prod-weu", "-p", "x"]},
        {"args": ["--password", "--user", "bob"]},
    ],
)
def test_other_arguments_stay(container: dict[str, Any]) -> None:
    assert redact(container) == container


def test_what_a_reader_keeps_of_them_is_redacted_too() -> None:
    kept = [("web", ("--db-password", SECRET)), ("api", ("--port", "8080"))]
    assert without_secrets(kept) == [("web", ("--db-password", "[redacted:password]")), kept[1]]


def test_an_item_of_a_list_is_no_flag() -> None:
    said = ["- rotate the admin token of prod-weu", "quota-exceeded"]
    assert redact(said) == said
