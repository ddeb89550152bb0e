"""Nothing secret leaves the clients, and nothing else is touched."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handlers.clients.redact import redact, redact_json, redact_text
from tests import recorded

GUID = "0b1f6471-1bf0-4dda-aec3-cb9272f09590"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


# Made up for these tests, put together from pieces so that no scanner mistakes them for real ones.
KEY64 = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYg=="
JWT = ".".join(
    ("eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9", "eyJhdWQiOiJodHRwczovL21hbmFnZW1lbnQifQ", "c2lnbmF0dXJlLW9mLWl0")
)
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----\nMIIEowIBAAKCAQEAx\nabc+/=\n-----END RSA PRIVATE" + " KEY-----"
KUBECONFIG = (
    "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n"
    f"    client-key-data: {b64(PEM)}\n    token: q7h2k9x0w3\n"
)
LOOKS: dict[str, tuple[str, str]] = {
    "jwt": (JWT, JWT),
    "bearer": ("Authorization: Bearer abc123def456ghi789jkl", "abc123def456ghi789jkl"),
    "basic header": ("Authorization: Basic " + b64("bob:hunter2"), b64("bob:hunter2")),
    "entra client secret": ("Abc8Q~" + "x1-_.~Y" * 4 + "zzz34", "x1-_.~Y"),
    "password=": ("Server=tcp:db,1433;User ID=sa;Password=S3cr#t!pw;Encrypt=true", "S3cr#t!pw"),
    "storage key": (f"AccountName=a;AccountKey={KEY64};EndpointSuffix=core.windows.net", KEY64),
    "bare storage key": (KEY64, KEY64),
    "service bus": ("Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey=aBcD1234efgh5678==", "aBcD1234efgh"),
    "cosmos": ("AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=aBcD1234efgh5678==;", "aBcD1234efgh"),
    "sas": ("https://x.blob.core.windows.net/c?sv=2022&sig=aB%2Fc%3D&se=2026", "aB%2Fc%3D"),
    "private key": (PEM, "MIIEowIBAAKCAQEAx"),
    "cut private key": (PEM[:60], "MIIEowIBAAKCAQEAx"),
    "kubeconfig": (KUBECONFIG, "q7h2k9x0w3"),
    "kubeconfig's key": (KUBECONFIG, b64(PEM)),
    "packed kubeconfig": (b64(KUBECONFIG), b64(KUBECONFIG)),
    "packed script": (b64("#!/bin/sh\naz login --password hunter2secret\n"), b64("#!/bin/sh\naz login")[:16]),
    "basic auth": ("https://bob:p@ss-w0rd@proxy.example:8080/x", "p@ss-w0rd"),
    "database": ("postgres://app:s3cr3tpw@db.internal:5432/x", "s3cr3tpw"),
    "redis": ("rediss://:s3cr3tpw@cache:6380", "s3cr3tpw"),
    "github": ("ghp_" + "aB1" * 12, "aB1aB1"),
    "github fine": ("github_pat_" + "aB1_" * 12, "aB1_aB1"),
    "slack": ("xoxb-" + "123456789012-abcdefABCDEF", "abcdefABCDEF"),
    "slack app": ("xapp-1-" + "A0123-456-abcdef", "A0123-456"),
    "slack hook": ("https://hooks.slack.com/services/" + "T000/B000/abcDEF123", "abcDEF123"),
    "aws": ("AKIA" + "ABCDEFGHIJKLMNOP and " + "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz", "wJalrXUtnFEMI"),
    "aws id": ("AKIA" + "ABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP"),
    "google": ("AIza" + "SyA-1234567890abcdefghijklmnopqrstu", "SyA-1234567890"),
    "devops pat": ("abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst", "abcdefghijklmnopqrstuvwxyz234567"),
    "devops pat of now": ("A1b2" * 19 + "AZDO" + "1a2b", "A1b2A1b2"),
    "npm": ("npm_" + "a1B2" * 9, "a1B2a1B2"),
    "stripe": ("sk_live_" + "a1B2c3D4e5F6g7", "a1B2c3D4"),
    "openai": ("sk-proj-" + "a1B2c3D4e5" * 4, "a1B2c3D4e5"),
    "sendgrid": ("SG." + "a1B2c3D4e5F6g7H8i9" + "." + "j1K2l3M4n5O6p7Q8r9", "j1K2l3M4"),
    "pypi": ("pypi-" + "AgEIcHlwaS5vcmc" * 3, "AgEIcHlwaS5vcmc"),
    "signed operation": (
        "https://management.azure.com/x/operations/1?api-version=1&t=638980000000&c=MIIHhzCC&s=abcDEF123&h=xyzXYZ789",
        "abcDEF123",
    ),
    "function key": ("https://f.azurewebsites.net/api/x?code=abcDEF123abcDEF123abc==", "abcDEF123abcDEF123"),
    "email": ("done by jane.o'neill@contoso.com today", "jane"),
    "guest": ("jane_contoso.com#EXT#@fabrikam.onmicrosoft.com", "jane"),
    "flag": ("az login --service-principal -u x --password hunter2!", "hunter2!"),
    "env line": ("export CLIENT_SECRET=abcd1234", "abcd1234"),
    "cut json": ('{"properties": {"adminPassword": "hunter2', "hunter2"),
    "escaped json": ('bad body: {\\"clientSecret\\": \\"s3cr3t\\", \\"x\\": 1}', "s3cr3t"),
    "yaml env": ("env:\n- name: DB_PASSWORD\n  value: hunter2\n", "hunter2"),
}
KEYS = [
    "adminPassword", "password", "DB_PASSWORD", "passwd", "clientSecret", "client_secret", "secret", "secretValue",
    "accessToken", "refresh_token", "token", "sasToken", "sshPrivateKey", "privateKey", "accessKey", "accountKey",
    "primaryKey", "secondaryKey", "key1", "apiKey", "x-api-key", "subscriptionKey", "connectionString",
    "primaryConnectionString", "kubeconfig", "client-key-data", "customData", "Authorization", "credentials",
    "passphrase", "tls.key", "storageAccountKey", "workspaceKey",
]  # fmt: skip
BENIGN: list[Any] = [
    {"addonProfiles": {"azureKeyvaultSecretsProvider": {"enabled": True, "config": {"enableSecretRotation": "true",
     "rotationPollInterval": "2m"}}}},
    {"secretRotation": {"enabled": True}, "tokenRequests": [{"audience": "api://AzureADTokenExchange"}]},
    {"keyVaultId": "/subscriptions/x/resourceGroups/y/providers/Microsoft.KeyVault/vaults/kv", "secretsProvider":
     {"name": "kv"}, "secretUrl": "https://kv.vault.azure.net/secrets/tls/1", "secretName": "tls", "keyName": "kek",
     "keyUrl": "https://kv.vault.azure.net/keys/kek/2"},
    {"taints": [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}],
     "matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}],
     "topologyKey": "topology.kubernetes.io/zone"},
    {"permissions": {"keys": ["get"], "secrets": ["get", "list"]}, "disablePasswordAuthentication": True},
    {"name": "aks-apps-12345678-vmss000001", "id": f"/subscriptions/{GUID}/resourceGroups/MC_a_b_c", "vmId": GUID},
    {"nextLink": "https://management.azure.com/x?$skiptoken=eyJhbGciOiJub25l.eyJhbGciOiJub25l.abcDEF&sig=1&token=abc12345"},
    {"image": "mcr.microsoft.com/oss/kubernetes/pause@sha256:" + "ab12" * 16, "repo": "git@github.com:org/repo.git"},
    {"passwordLength": 12, "tokenTtl": "24h", "tokenExpiration": "2026-11-18T09:00:00Z", "secretVersion": "abc"},
    {"adminPassword": None, "password": "", "secret": "[parameters('secret')]", "token": False, "apiKey": 7},
    {"claims": [{"name": "gpu"}]},
    "The key vault secret https://kv.vault.azure.net/secrets/x was not found",
    "The access token expiry UTC time '11/18/2026 9:00:00 AM' is earlier than current UTC time",
    "Invalid token: expired",
    "Password must be at least 12 characters long",
    "Bearer authorization_uri=\"https://login.windows.net/\", error=\"invalid_token\"",
    "Failed to pull image: basic authentication required",
    "https://prod-weu-dns-12345678.hcp.westeurope.azmk8s.io:443/api/v1/nodes?limit=500",
    "desk-disk-task-aks-nodepool1-12345678-vmss000001",
    "Code=\"OperationNotAllowed\" Message=\"Location: westeurope, Current Limit: 10, Current Usage: 10\"",
    "GET_KEY_ERROR: key pool is empty",
]  # fmt: skip


@pytest.mark.parametrize(("text", "secret"), LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize(
    "place",
    [
        lambda text: text,
        lambda text: f"it said {text} at last" if "\n" not in text else text,
        lambda text: {"tags": {"note": text}},
        lambda text: {"properties": {"statusMessage": json.dumps({"error": {"code": "X", "message": text}})}},
        lambda text: [{"a": [[text]]}],
    ],
    ids=["alone", "in prose", "tag", "json in a string", "deep"],
)
def test_a_secret_is_known_by_its_look(text: str, secret: str, place: Callable[[str], Any]) -> None:
    if text.startswith((b64("apiVersion")[:8], b64("#!/bin/sh")[:8])):
        # What is packed in base64 is a value of its own, never a part of a sentence.
        place = place if not isinstance(place(text), str) else lambda one: one
    clean = redact(place(text))
    said = json.dumps(clean)
    assert secret not in said
    assert json.dumps(secret)[1:-1] not in said
    assert "[redacted:" in said
    assert redact(clean) == clean
    assert same_shape(place(text), clean)


@pytest.mark.parametrize("key", KEYS)
def test_a_secret_is_known_by_its_key(key: str) -> None:
    value = "correct horse"
    wrapped = json.dumps({key: value})
    for body in (
        {key: value},
        {"a": [{key: value}]},
        {key: {"type": "SecureString", "value": value}},
        {"name": key, "value": value},
        {"message": wrapped},
        {"message": json.dumps({"inner": wrapped})},
        {"message": "body was " + wrapped},
    ):
        clean = redact(body)
        assert value not in json.dumps(clean)
        assert redact(clean) == clean


@pytest.mark.parametrize("body", BENIGN, ids=range(len(BENIGN)))
def test_what_is_no_secret_stays(body: Any) -> None:
    assert redact(body) == body


def test_claims_lose_every_text_and_no_key() -> None:
    event = {"claims": {"aud": "https://x", "name": "Jane", "http://x/upn": "jane@contoso.com", "groups": ["a"]}}
    clean = redact(event)
    assert set(clean["claims"]) == set(event["claims"])
    assert json.dumps(clean).count("[redacted:claims]") == 4


def test_a_kubernetes_secret_keeps_its_keys_only() -> None:
    body = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "Zm9v"}, "stringData": {"b": "bar"}}
    clean = redact(body)
    assert clean["metadata"] == {"name": "s"}
    assert clean["data"] == {"a": "[redacted:secret-data]"}
    assert clean["stringData"] == {"b": "[redacted:secret-data]"}


def test_docker_auth_goes_and_other_auth_stays() -> None:
    body = {"auths": {"x.azurecr.io": {"auth": b64("bob:pw")}}, "auth": "oidc"}
    assert redact(body) == {"auths": {"x.azurecr.io": {"auth": "[redacted:docker-auth]"}}, "auth": "oidc"}


def test_list_keys_lose_their_values() -> None:
    clean = redact({"keys": [{"keyName": "key1", "value": "abc", "permissions": "FULL"}]})
    assert clean == {"keys": [{"keyName": "key1", "value": "[redacted:key]", "permissions": "FULL"}]}


def test_credentials_of_a_cluster_go() -> None:
    clean = redact({"kubeconfigs": [{"name": "clusterUser", "value": b64(KUBECONFIG)}]})
    assert clean == {"kubeconfigs": [{"name": "clusterUser", "value": "[redacted:kubeconfig]"}]}


def test_an_escaped_secret_in_the_raw_body_is_found() -> None:
    raw = rb'{"m": "\u0061\u006bey \u0041ccountKey\u003dabcDEF1234567890"}'
    assert b"abcDEF1234567890" not in redact_json(raw)[1]


def test_a_clean_body_is_passed_on_as_it_is() -> None:
    raw = orjson.dumps({"value": [{"id": "/subscriptions/x"}]})
    assert redact_json(raw)[1] is raw


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert redact_json(b'\xef\xbb\xbf{"a": 1}')[0] == {"a": 1}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=30)
    | st.sampled_from([text for text, _ in LOOKS.values()]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.text(max_size=8) | st.sampled_from([*KEYS, "name", "value", "claims", "kind"]), inner, max_size=4
    ),
    max_leaves=25,
)  # fmt: skip


@given(json_values)
@example({"Name": "Abc8Q~x1-_.~Yx1-_.~Yx1-_.~Yx1-_.~Yzzz34", "Value": "0"})  # a name that is a secret itself
def test_the_structure_never_changes_and_twice_is_once(value: Any) -> None:
    clean = redact(value)
    assert same_shape(value, clean)
    assert redact(clean) == clean


@given(st.text(max_size=60), st.sampled_from(sorted(LOOKS)), st.text(max_size=60))
def test_text_is_redacted_once_and_for_all(before: str, look: str, after: str) -> None:
    clean = redact_text(f"{before} {LOOKS[look][0]} {after}")
    assert redact_text(clean) == clean


@given(json_values)
def test_a_tree_in_a_string_loses_what_the_tree_loses(value: Any) -> None:
    inside = json.dumps({"a": value})
    clean = redact({"statusMessage": inside})["statusMessage"]
    assert same_shape(json.loads(inside), json.loads(clean))


def test_deep_nesting_is_no_trouble() -> None:
    raw = b'{"a":' * 250 + b'"password=hunter2"' + b"}" * 250
    assert b"hunter2" not in redact_json(raw)[1]


@recorded.needed
def test_recorded_answers_keep_every_id_and_name() -> None:
    for file in sorted(recorded.DATA.glob("*.json")):
        body = json.loads(file.read_text()).get("body")
        clean = redact(body)
        assert same_shape(body, clean), file.name
        assert ids(body) == ids(clean), file.name
        assert redact(clean) == clean, file.name


def test_two_megabytes_take_a_moment_only() -> None:
    rows = [
        {
            "id": f"/subscriptions/{GUID}/resourceGroups/MC_{n}/providers/Microsoft.Compute/vmss/{n}",
            "name": f"aks-apps-{n}",
            "properties": {"vmId": f"{n:08d}-1bf0-4dda-aec3-cb9272f09590", "provisioningState": "Succeeded"},
        }
        for n in range(8000)
    ]
    raw = orjson.dumps({"value": rows})
    assert len(raw) > 1_700_000
    started = time.process_time()
    redact_json(raw)
    assert time.process_time() - started < 0.5


TEDIOUS = (
    ("a", 100_000, ""),
    ("=", 100_000, ""),
    ("password", 10_000, ""),
    ("x@", 50_000, ""),
    ("://:", 25_000, ""),
    ('\\"', 50_000, "password"),
    ("eyJ.", 25_000, ""),
    ("token:", 20_000, ""),
    ("-----BEGIN ", 9_000, ""),
    ("name: key\n value:", 5_000, ""),
    ("southeastasia ", 9_000, ""),
    ("a.", 50_000, "://"),
    ("-", 100_000, "password"),
    ("://a:", 20_000, ""),
    (" ", 100_000, "password"),
    ("\\", 100_000, "password"),
    ("[", 100_000, ""),
    ('{"a":', 20_000, ""),
)


@pytest.mark.parametrize(("part", "times", "end"), TEDIOUS, ids=range(len(TEDIOUS)))
def test_no_text_makes_it_slow(part: str, times: int, end: str) -> None:
    text = part * times + end
    started = time.process_time()
    redact_text(text)
    assert time.process_time() - started < 2.0


def same_shape(before: Any, after: Any) -> bool:
    if isinstance(before, dict):
        return (
            isinstance(after, dict)
            and list(before) == list(after)
            and all(same_shape(before[key], after[key]) for key in before)
        )
    if isinstance(before, list):
        return (
            isinstance(after, list)
            and len(before) == len(after)
            and all(same_shape(one, other) for one, other in zip(before, after, strict=True))
        )
    return isinstance(after, str) if isinstance(before, str) else before == after


def ids(value: Any, key: str = "") -> list[str]:
    if isinstance(value, dict):
        return [found for name, one in value.items() if name != "claims" for found in ids(one, name)]
    if isinstance(value, list):
        return [found for one in value for found in ids(one, key)]
    wanted = isinstance(value, str) and (key.lower().endswith("id") or key in ("name", "type", "location", "code"))
    return [value] if wanted else []


@pytest.mark.parametrize(
    "text",
    [
        "failed: password=hunter2hunter2",
        "Error: token=hunter2hunter2",
        "env: DB_PASSWORD=hunter2hunter2",
        "x=password=hunter2hunter2",
        'message: "password=hunter2hunter2"',
        "a=" * 100 + "password=hunter2hunter2",
    ],
)
def test_an_assignment_behind_another_is_no_hiding_place(text: str) -> None:
    assert "hunter2hunter2" not in redact_text(text)


def test_harmless_assignments_behind_others_stay() -> None:
    for text in ("see: https://aka.ms/x", "at: 10:32:07", "selector: app=web", "Code: 409: Conflict"):
        assert redact_text(text) == text
