"""The identity for fixes: the writer's if configured, and never a mix of both."""

from __future__ import annotations

from handlers.clients.access import AzureAccess

READER = {
    "AZURE_TENANT_ID": "tenant",
    "AZURE_CLIENT_ID": "reader",
    "AZURE_CLIENT_SECRET": "reader's",
    "AZURE_CLIENT_CERTIFICATE_PATH": "/reader.pem",
    "AZURE_FEDERATED_TOKEN_FILE": "/var/run/token",
    "PATH": "/bin",
}


def writer(**own: str) -> dict[str, str]:
    return dict(AzureAccess(identity=READER | own).as_writer().environment)


def test_where_no_writer_is_set_it_is_the_reader() -> None:
    access = AzureAccess(identity=READER)
    assert access.as_writer() is access
    assert AzureAccess(identity=READER | {"AKSBOT_WRITER_CLIENT_ID": ""}).as_writer().environment["PATH"] == "/bin"


def test_a_writer_has_its_own_client_and_secret() -> None:
    found = writer(AKSBOT_WRITER_CLIENT_ID="writer", AKSBOT_WRITER_CLIENT_SECRET="writer's")
    assert (found["AZURE_CLIENT_ID"], found["AZURE_CLIENT_SECRET"]) == ("writer", "writer's")
    assert found["AZURE_TENANT_ID"] == "tenant"
    assert found["PATH"] == "/bin"


def test_the_readers_secret_proves_nothing_of_the_writer() -> None:
    found = writer(AKSBOT_WRITER_CLIENT_ID="writer")
    assert "AZURE_CLIENT_SECRET" not in found
    assert "AZURE_CLIENT_CERTIFICATE_PATH" not in found


def test_a_federated_token_file_serves_both_and_another_tenant_can_be_named() -> None:
    found = writer(AKSBOT_WRITER_CLIENT_ID="writer", AKSBOT_WRITER_TENANT_ID="other")
    assert found["AZURE_FEDERATED_TOKEN_FILE"] == "/var/run/token"
    assert AzureAccess(identity=found).tenant_id == "other"
