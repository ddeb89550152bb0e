"""Which keys hold secrets (`adminPassword`, `storage_account_key`), and which only refer to them (`secretUrl`,
`enableSecretRotation`, `publicKey`).
"""

from __future__ import annotations

from functools import lru_cache

from runbooks.linear import compile_linear

PLAIN = "plain"
"""The kind of a key whose value must stay as it is: paging tokens."""
WHOLE_BRANCH = frozenset({"claims", "protected-settings", "secret-data"})
"""Kinds under which every text is secret, however deep."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = compile_linear(r"[A-Z]+|[a-z]+|\d+")
_PAGING = frozenset({"nextlink", "odatanextlink", "skiptoken", "nexttoken", "nextpagetoken", "continuationtoken"})
_EXACT = {
    "apikey": "key",
    "auth": "docker-auth",
    "authorization": "authorization",
    "claims": "claims",
    "clientkeydata": "key",
    "connectionstring": "connection-string",
    "connstr": "connection-string",
    "cookie": "cookie",
    "setcookie": "cookie",
    "customdata": "custom-data",
    "dockercfg": "docker-auth",
    "dockerconfigjson": "docker-auth",
    "kubeconfig": "kubeconfig",
    "masterauth": "password",
    "pass": "password",
    "proxyauthorization": "authorization",
    "protectedsettings": "protected-settings",
    "psw": "password",
    "pw": "password",
    "pwd": "password",
    "requirepass": "password",
    "sas": "sas",
    "sig": "sas",
    "userdata": "custom-data",
}
_STEMS = (
    ("connectionstring", "connection-string"),
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("kubeconfig", "kubeconfig"),
    ("secret", "secret"),
    ("token", "token"),
    ("credential", "credential"),
)
_KEY_OF = compile_linear(
    r"(?:access|account|admin|api|app|auth|client|encryption|function|host|instrumentation|license|master|primary"
    r"|private|secondary|secret|service|session|shared|signing|ssh|storage|subscription|symmetric)key$"
)
_ABOUT = words(
    "algorithm at audience authentication authority caching class count days dir directory enabled endpoint error "
    "errors exception exists expiration expired expires expiry file fingerprint folder format found from id "
    "identifier ids in interval issuer kind last length lifetime link location management mode name names namespace "
    "on path permissions policy profile provider ref reference references requests required reset rotation rule scope "
    "seconds selector size source state status store thumbprint tokenizer ttl type types uri uris url urls validity "
    "version versions"
)
_SHORT = words("pass pw pwd psw passcode")
"""What a password is called at the end of a name: `DB_PW`."""
_ENDS_SHORT = compile_linear(r".(?:pw|pwd|pass)$")
"""The same without anything between: `rootpw`, `storepass`."""
_ENDS_IN_PASS = words(
    "bypass compass encompass overpass surpass trespass underpass multipass lowpass highpass bandpass"
)
_HAS_AUTH = words("basic cache celery db http https mongo mysql proxy queue redis registry smtp valkey")
"""Programs whose password is called `auth`: `REDIS_AUTH`."""
_ASKS = words(
    "allow automount can disable disabled enable enabled fix generate get has is list next no repair requires show "
    "skip use with"
)
_CLASSES = frozenset(
    f"{name}credential"
    for name in words(
        "azurecli azuredevelopercli azurepipelines azurepowershell chainedtoken clientassertion clientcertificate "
        "clientsecret defaultazure devicecode environment interactivebrowser managedidentity onbehalfof "
        "sharedtokencache usernamepassword visualstudio visualstudiocode workloadidentity"
    )
)
"""The ways of signing in that the SDKs of Azure try one after the other; an error follows each."""
_NOT_A_SECRETS_KEY = words(
    "annotation cache column config data dedup foreign group hash idempotency index label map node object partition "
    "public range registry route row search sort source tag taint target topology unique"
)
_HARMLESS_TEXT = compile_linear(
    r"\A(?:true|false|yes|no|on|off|none|null|nil|n/a|auto|default|unknown|enabled|disabled|string|secure ?string"
    r"|secureobject|bearer|succeeded|failed|error|notset|not set|required|missing|invalid|expired|empty|hidden|redacted"
    r"|running|stopped|pending"
    r"|\(sensitive(?: value\)?)?|(?:\x{2026}|\.\.\.)\S{0,8}"
    r"|/(?:subscriptions|providers)/\S*"
    r"|https://[\w-]+\.(?:vault|managedhsm)\.[\w.]+(?:/[^\s?]*)?"
    r"|@microsoft\.keyvault\(.*"
    r"|\[(?:parameters|variables|concat|reference|listkeys|uniquestring|resourceid|if)\(.*"
    r"|\$[({]{1,2} ?[\w.-]+ ?[)}]{0,2}"
    r"|(?-i:\$[A-Z_][A-Z0-9_]{2,}|%[A-Z_][A-Z0-9_]*%)|\{\{[^{}]*\}{0,2}|<[a-z][a-z _-]*>?|[*x.•-]{3,}"
    r"|\d+(?:ms|s|m|h|d)"
    r"|-?p(?:\d+[ymwd])*(?:t(?:\d+[hms])+)?"
    r"|\d{4}-\d\d-\d\d(?:t[\d:.]+(?:z|[+-]\d\d:\d\d)?)?"
    r")?\z",
    ignore_case=True,
    dot_all=True,
)
LONGEST_HARMLESS = 1000
"""Characters; no reference is longer, and whoever looks for the end of a value knows that a long one goes."""


@lru_cache(maxsize=8192)
def kind_of_key(key: str) -> str:
    """What a key holds: a kind of secret, `plain` (never a secret), or "" (not known)."""
    parts = _words(key[:200])
    while len(parts) > 1 and parts[-1].isdigit():
        parts.pop()
    if not parts:
        return ""
    whole, last = "".join(parts), parts[-1]
    if whole in _PAGING:
        return PLAIN
    if whole in _EXACT:
        return _EXACT[whole]
    if last in _ABOUT or parts[0] in _ASKS:
        return ""
    if last in ("key", "keys") or _KEY_OF.search(last.removesuffix("s")):
        return "key" if _opens_something(parts, key) else ""
    if whole in ("secrets", "tokens") or whole in _CLASSES or "pull" in parts:
        return ""
    if len(parts) > 1 and (last in _SHORT or (last == "auth" and parts[-2] in _HAS_AUTH)):
        return "password"
    if last not in _ENDS_IN_PASS and _ENDS_SHORT.search(last):
        return "password"
    return next((kind for stem, kind in _STEMS if stem in whole), "")


def _words(key: str) -> list[str]:
    """The words of a name: `DB_PASSWORD`, `clientSecret`, `SSHPrivateKey`. The last capital belongs to what follows."""
    parts: list[str] = []
    end = -1
    for found in _WORDS.finditer(key):
        part, start = found[0], found.start()
        joins = start == end and part.islower() and parts and key[start - 1].isupper()
        if joins:
            capitals = parts.pop()
            if len(capitals) > 1:
                parts.append(capitals[:-1])
            parts.append(capitals[-1] + part)
        else:
            parts.append(part)
        end = found.end()
    return [word.lower() for word in parts]


def looks_harmless(text: str) -> bool:
    """A value that is no secret: a switch, a duration, a reference to where the secret is."""
    return len(text) <= LONGEST_HARMLESS and bool(_HARMLESS_TEXT.fullmatch(text.strip()))


def mark(kind: str) -> str:
    return f"[redacted:{kind}]"


def _opens_something(words: list[str], key: str) -> bool:
    if len(words) == 1:
        # Labels, taints and selectors have a `key`; `key1` is what listKeys returns.
        return words[0] not in ("key", "keys") or key[-1].isdigit()
    return words[-2] not in _NOT_A_SECRETS_KEY
