"""Fake secrets of every kind seen in ARM bodies, tags or error texts."""

import base64

from tests.redaction import planted

_LONG = "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9v"
_PEM = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
_JWT = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"


def _joined(*parts: str) -> str:
    """Join the parts at run time, so that secret scanners do not flag this file."""
    return "".join(parts)


AS_TEXT = {
    "jwt": (f"Authorization: Bearer {_JWT}", _JWT),
    "entra client secret": (
        "client_secret=xKz8Q~aBcDeFgHiJkLmNoPqRsTuVwXyZ012345",
        "xKz8Q~aBcDeFgHiJkLmNoPqRsTuVwXyZ012345",
    ),
    "storage key": (f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={_LONG}==;", _LONG),
    "service bus": (f"Endpoint=sb://a.servicebus.windows.net/;SharedAccessKey={_LONG[:43]}=", _LONG[:43]),
    "sas": (
        "https://a.blob.core.windows.net/c?sv=2024-01-01&sig=aBc%2FdEfGhIjKlMnOpQrStUvWxYz0123456789%3D",
        "aBc%2FdEfGhIjKlMnOpQrStUvWxYz0123456789",
    ),
    "private key": (f"-----BEGIN PRIVATE KEY-----\n{_PEM}\n-----END PRIVATE KEY-----", _PEM),
    "password in text": ("login failed for sa; password=Tr0ub4dor&3horse", "Tr0ub4dor&3horse"),
    "basic auth in a url": ("https://deploy:S3cretPassw0rd@registry.example.com/v2/", "S3cretPassw0rd"),
    "database url": ("postgresql://app:pg-S3cret-Pass@db.example.com:5432/x", "pg-S3cret-Pass"),
    "redis url": ("redis://:r3dis-S3cret-Pass@cache.example.com:6379/0", "r3dis-S3cret-Pass"),
    "basic header": ("Authorization: Basic ZGVwbG95OlMzY3JldFBhc3N3MHJk", "ZGVwbG95OlMzY3JldFBhc3N3MHJk"),
    "github": (_joined("gh", "p_", "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"),) * 2,
    "github fine": (
        _joined("github", "_pat_", "11ABCDEFG0aBcDeFgHiJkL_MnOpQrStUvWxYz0123456789aBcDeFgHiJkLmNoPqRsTuVwX"),
    )
    * 2,
    "slack": (_joined("xo", "xb-", "123456789012-1234567890123-aBcDeFgHiJkLmNoPqRsTuVwX"),) * 2,
    "slack hook": (
        _joined("https://hooks.", "slack.com/services/", "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
        "B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    ),
    "aws": (_joined("AK", "IA", "IOSFODNN7EXAMPLE"),) * 2,
    "google": (_joined("AI", "za", "SyA1234567890abcdefghijklmnopqrstuv"),) * 2,
    "npm": (_joined("np", "m_", "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"),) * 2,
    "stripe": (_joined("sk", "_live_", "aBcDeFgHiJkLmNoPqRsTuVwX"),) * 2,
    "sendgrid": (_joined("SG", ".", "aBcDeFgHiJkLmNoPqRsTuV", ".", "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFg"),) * 2,
    "person": ("requested by somebody.real@contoso.example", "somebody.real@contoso.example"),
    "signed url": (
        "https://management.azure.com/x/operations/y?api-version=1&t=638000000000000000&c=MIIHpTCC&s=aBcDeFgHiJkLmNoPqRsTuVwXyZ&h=q1w2e3r4t5y6",
        "aBcDeFgHiJkLmNoPqRsTuVwXyZ",
    ),
}
"""Kind → (the text that contains it, the part that must not leak)."""

AS_FIELD = {
    "adminPassword": "W1ndows-Adm1n-Pass",
    "clientSecret": "plain-Cl1ent-Secret",
    "sshPrivateKey": "plain-Ssh-Pr1vate-Key",
    "connectionString": "Server=x;Plain-C0nnection=1",
    "accessKey": "plain-Acc3ss-Key-value",
    "client-key-data": base64.b64encode(b"a private key of a kubeconfig").decode(),
    "apiToken": "plain-Ap1-Token-value",
}
"""Field name → the value that must not leak."""

TEXTS = [text for text, _ in AS_TEXT.values()] + [one.text for one in planted.EVERY]

EVERY = {part for _, part in AS_TEXT.values()} | set(AS_FIELD.values()) | {one.secret for one in planted.EVERY}
