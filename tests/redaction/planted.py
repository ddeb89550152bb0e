"""Fake secrets of every kind in realistic places, five of each kind. They are assembled from
pieces and digests, so that secret scanners do not flag this file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import NamedTuple

ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
HEX = "0123456789abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
LOWER = "abcdefghijklmnopqrstuvwxyz234567"
PASSWORDS = ("Tr0ub4dor,3horse", "k!tten;Blue7Sky", "s3cr&t-Pa55word", "it's-N0t-mine", "plain#Word9:x")
"""Realistic passwords; each breaks parsers that stop at the first comma, semicolon, ampersand or apostrophe."""


class Planted(NamedTuple):
    kind: str
    text: str
    """The full text with the secret."""
    secret: str
    """The part that must be removed."""


def letters(seed: str, count: int, alphabet: str = ALNUM) -> str:
    digest = hashlib.shake_256(seed.encode()).digest(count)
    return "".join(alphabet[byte % len(alphabet)] for byte in digest)


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def b64url(seed: str, count: int) -> str:
    return letters(seed, count, ALNUM + "-_")


def jwt(seed: str) -> str:
    head = base64.urlsafe_b64encode(json.dumps({"alg": "RS256", "kid": seed}).encode()).decode().rstrip("=")
    return f"{head}.{b64url(seed + 'p', 60)}.{b64url(seed + 's', 43)}"


def der(seed: str) -> str:
    """The lines between the header and the end of a private key."""
    body = "MIIEvQ" + "IBADANBgkqhkiG9w0BAQEFAASCBK" + letters(seed, 290, ALNUM + "+/")
    return "\n".join(body[at : at + 64] for at in range(0, len(body), 64)) + "=="


def pem(seed: str, label: str = "PRIVATE") -> str:
    return f"-----BEGIN {label}" + f" KEY-----\n{der(seed)}\n-----END {label}" + " KEY-----"


def _middle(seed: str) -> str:
    """A line in the middle of that key."""
    return der(seed).splitlines()[2]


def _of(kind: str, make: Callable[[str], tuple[str, str]]) -> list[Planted]:
    return [Planted(kind, *make(f"{kind} {number}")) for number in range(5)]


def _said(kind: str, template: str, passwords: tuple[str, ...] = PASSWORDS) -> list[Planted]:
    """A template for any password, which replaces `{}`."""
    return [Planted(kind, template.replace("{}", one), one) for one in passwords]


def _token(
    kind: str, prefix: str, count: int, alphabet: str = ALNUM, around: str = "the job used {} for it"
) -> list[Planted]:
    def make(seed: str) -> tuple[str, str]:
        rest = letters(seed, count, alphabet)
        return around.replace("{}", prefix + rest), rest

    return _of(kind, make)


def _packed(seed: str) -> tuple[str, str]:
    said = b64(f"password={letters(seed, 12)}")
    return f"the extension ran `echo {said} | base64 -d` and failed", said.rstrip("=")


_NO_APOSTROPHE = (*PASSWORDS[:3], "no-quote-1N-me", PASSWORDS[4])
_PLAIN = ("Tr0ub4dor-3horse", "k!ttenBlue7Sky", "s3cret+Pa55word", "n0t~mine~today", "plain#Word9x")
_WORDS = ("swordfish", "correcthorse", "blueberries", "Mississippi", "tangerine")
_IN_ADDRESSES = ("Tr0ub4dor-3horse", "k!tten;Blue7Sky", "s3cr&t-Pa55word", "it's-N0t-mine")
_KUBECONFIG = "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    token: "

EVERY: tuple[Planted, ...] = (
    # Assignments
    *_said("password assigned", "login failed for sa; password={}"),
    *_said("password assigned in the middle", "retrying with password={} user=sa attempt=3"),
    *_said("connection string", "Server=tcp:db,1433;User ID=sa;Password={};Encrypt=true;Timeout=30"),
    *_said("exported variable", "export CLIENT_SECRET={}\nexport LOG_LEVEL=debug"),
    *_said("short variable", "DB_PW={}\nDB_HOST=db.internal"),
    *_said("redis variable", "REDIS_AUTH={}\nREDIS_HOST=cache.internal"),
    *_said("quoted variable", 'export ADMIN_PASSWORD="{}"'),
    *_said("query of an address", "GET https://api.example.com/v1/items?page=2&api_key={}&sort=name failed", _PLAIN),
    *_said("powershell variable", '$env:DB_PASSWORD = "{}"'),
    *_said("python", "connect(host='db', password=\"{}\", port=5432)"),
    *_said("go map", "config map[host:db password:{} port:5432]", _PLAIN),
    # Arguments
    *_said("argument list", '["--db-host","db","--db-password","{}"]'),
    *_said("argument list in a sentence", 'exec failed: args ["server", "--db-password", "{}", "--verbose"]'),
    *_said("arguments in yaml", "args:\n- --db-password\n- {}\n- --verbose", _PLAIN),
    *_said("flag", "helm upgrade --set image=x --token {} --wait", _PLAIN),
    *_said("flag with equals", "server --admin-password={} --port=8080", _PLAIN),
    *_said("mysql", "mysql -h db -u root -p{} -e 'select 1'", _PLAIN),
    *_said("curl", "curl -s -u deploy:{} https://registry.example.com/v2/", _PLAIN),
    *_said("az login", "az login --service-principal -u 0b1f6471-1bf0-4dda-aec3-cb9272f09590 -p {} --tenant x", _PLAIN),
    *_said("docker login", 'docker login -u bob -p "{}" registry.example.com', _NO_APOSTROPHE),
    *_said("sshpass", "sshpass -p {} ssh admin@10.0.0.4", _PLAIN),
    # Documents
    *_said("yaml, quoted", 'env:\n- name: DB_PASSWORD\n  value: "{}"\n- name: DB_HOST\n  value: db'),
    *_said("yaml, plain", "env:\n- name: DB_PASSWORD\n  value: {}\n- name: DB_HOST\n  value: db"),
    *_said("yaml, one line each", "auth:\n  username: bob\n  password: '{}'", _NO_APOSTROPHE),
    *_said("yaml, block", "apiToken: |\n  {}\nother: x"),
    *_said("json, cut", '{"properties": {"adminUsername": "bob", "adminPassword": "{}'),
    *_said("json in json", 'bad body: {\\"user\\": \\"bob\\", \\"clientSecret\\": \\"{}\\", \\"x\\": 1}'),
    *_said("xml element", "<server><id>x</id><password>{}</password></server>", _PLAIN),
    *_said("xml attribute", '<add key="AdminPassword" value="{}" />', _PLAIN),
    *_said("netrc", "machine registry.example.com login bob password {}"),
    *_said("properties", "spring.datasource.password={}\nspring.datasource.username=app"),
    *_of(
        "secret of kubernetes",
        lambda seed: (
            f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: web\ndata:\n  one: {b64(letters(seed, 15))}\n",
            b64(letters(seed, 15)),
        ),
    ),
    *_of("kubeconfig", lambda seed: (_KUBECONFIG + letters(seed, 24), letters(seed, 24))),
    # Sentences
    *_said("said", "the password for the jump host is {} until Friday", _PLAIN),
    *_said("said in quotes", 'her password was "{}" all along'),
    *_said("said with a colon", "password: {}"),
    *_said("said with is and a colon", "the password for prod is: {}", _PLAIN),
    *_said("said for whom", "password for admin: {}", _PLAIN),
    *_said("said behind the word", "/aks check password {}", _PLAIN),
    *_said("said behind the short word", "root pw {}", _PLAIN),
    *_said("client secret behind its name", "client_secret {} is the new one", _PLAIN),
    *_said("said with a word at the end", "/aks mute prod-weu until tomorrow password: {}", _WORDS),
    *_said("said behind a tab", "user\tadmin\npassword\t{}", _PLAIN),
    *_said("said behind a space that does not break", "password:\u00a0{}"),
    *_said("said with an arrow", "password -> {}", _PLAIN),
    *_said("said with a dash", "password \u2013 {}", _PLAIN),
    *_said("said with a wide colon", "password\uff1a{}", _PLAIN),
    *_said("said in the next line", "Password:\n{}", _PLAIN),
    *_said("name without a separator", "DBPW={}\nrootpw={}", _PLAIN),
    *_said("dockerfile", "FROM nginx\nENV DB_PASSWORD {}\nRUN true", _PLAIN),
    # Quotes
    *_said("quotes doubled in yaml", "password: 'it''s {}'", _NO_APOSTROPHE),
    *_said("quotes doubled in sql", "password='a''{}'", _NO_APOSTROPHE),
    *_said("double quotes doubled", 'password="a""{}"'),
    *_said("typographic quotes", "password=\u201c{} xyz!9\u201d"),
    *_said("typographic quotes, single", "password: \u2018{} xyz!9\u2019"),
    *_said("many words in quotes", 'db:\n  password: "one two three four five six {}"', _PLAIN),
    # Slack
    *_said("slack, bold name", "*password:* {}", _PLAIN),
    *_said("slack, bold name and code", "*Password*: `{}`"),
    *_said("slack, name and value as code", "`password` is `{}`"),
    *_said("slack, row of a table", "| password | {} |", _PLAIN),
    *_said(
        "slack, label of a link", "<https://bob:{}@registry.example.com/v2|bob:{}@registry.example.com/v2>", _PLAIN[:1]
    ),
    *_said(
        "slack, address of a link", "see <https://h.example.com/a?password={}|click here> now", ("Tr0ub4dor-3horse",)
    ),
    # Commands, further
    *_said("curl, one argument", "curl --user=admin:{} https://x.example.com", _PLAIN),
    *_said("curl, flags together", "curl -sSu admin:{} https://x.example.com", _PLAIN),
    *_said("curl, cookie", "curl -b sid={} https://x.example.com", _PLAIN),
    *_said("docker login, one argument", "docker login -p{} registry.example.com", _PLAIN),
    *_said("az login with equals", "az login -p={} --tenant x", _PLAIN),
    *_said("az sql", "az sql server create -n x -p {} -u bob", _PLAIN),
    *_said("az keyvault", "az keyvault secret set --name x --vault-name kv --value {}", _PLAIN),
    *_said("keytool", "keytool -list -storepass {} -keystore x.jks", _PLAIN),
    *_said("powershell", "$secure = ConvertTo-SecureString '{}' -AsPlainText -Force", _NO_APOSTROPHE),
    *_said("kubectl patch", 'kubectl patch secret web -p \'{"data":{"a":"{}"}}\'', _PLAIN),
    *_said("arguments in yaml, quoted", '- "--password"\n- "{}"', _PLAIN),
    *_said("a command in an argument", "docker exec db sh -c 'mysql -u root -p{} shop'", _PLAIN),
    *_said("a command in a list", 'exec: ["/usr/bin/curl", "-u", "bob:{}", "https://x"]', _PLAIN),
    *_said("xml with a prefix", "<ns:password>{}</ns:password>", _PLAIN),
    *_said("xml, escaped", "&lt;password&gt;{}&lt;/password&gt;", _PLAIN),
    # Headers
    *_of("cookie", lambda seed: (f"Cookie: theme=dark; session={letters(seed, 24)}; x=1", letters(seed, 24))),
    *_of("set-cookie", lambda seed: (f"< Set-Cookie: sid={letters(seed, 30)}; HttpOnly; Secure", letters(seed, 30))),
    *_of("bearer", lambda seed: (f"curl -H 'Authorization: Bearer {b64url(seed, 40)}' https://x", b64url(seed, 40))),
    *_of(
        "basic", lambda seed: ("Authorization: Basic " + b64(f"bob:{letters(seed, 9)}"), b64(f"bob:{letters(seed, 9)}"))
    ),
    *_of("key header", lambda seed: (f"X-Api-Key: {letters(seed, 32)}", letters(seed, 32))),
    *_of(
        "digest",
        lambda seed: (
            f'Authorization: Digest username="b", response="{letters(seed, 32, HEX)}"',
            letters(seed, 32, HEX),
        ),
    ),
    # Keys and addresses
    *_of("private key", lambda seed: (pem(seed), _middle(seed))),
    *_of("openssh key", lambda seed: (pem(seed, "OPENSSH PRIVATE"), _middle(seed))),
    *_of("private key in one line", lambda seed: ("key: " + pem(seed).replace("\n", "\\n"), _middle(seed))),
    *_of("private key without its header", lambda seed: (f"it wrote\n{der(seed)}\nand ended", _middle(seed))),
    *_of("private key without its end", lambda seed: (pem(seed)[:300], _middle(seed))),
    *_of("private key without its beginning", lambda seed: (pem(seed)[150:], der(seed).splitlines()[4])),
    *_said(
        "database address",
        "postgres://app:{}@db.internal:5432/shop",
        (*_IN_ADDRESSES, "p@ss:w0rd"),
    ),
    *_said(
        "redis address",
        "rediss://:{}@cache.internal:6380/0",
        (*_IN_ADDRESSES, "a/b-Word9"),
    ),
    *_of(
        "sas",
        lambda seed: (
            f"https://a.blob.core.windows.net/c?sv=2024-01-01&sig={letters(seed, 40)}%3D&se=2026-01-01",
            letters(seed, 40),
        ),
    ),
    *_of(
        "signed operation",
        lambda seed: (
            f"https://management.azure.com/x/1?t=638&c=MIIH&s={b64url(seed, 60)}&h={letters(seed + 'h', 20)}",
            b64url(seed, 60),
        ),
    ),
    *_of(
        "slack hook",
        lambda seed: ("https://hooks.slack" + f".com/services/T000/B000/{letters(seed, 24)}", letters(seed, 24)),
    ),
    *_of(
        "person",
        lambda seed: (
            f"requested by {letters(seed, 9, LOWER)}.real@contoso.example",
            letters(seed, 9, LOWER) + ".real@",
        ),
    ),
    # Base64
    *_of("base64 in a sentence", _packed),
    *_of(
        "base64 of a kubeconfig",
        lambda seed: (b64(_KUBECONFIG + letters(seed, 24)), b64(_KUBECONFIG + letters(seed, 24))),
    ),
    # Azure
    *_of(
        "storage key",
        lambda seed: (
            f"AccountName=a;AccountKey={letters(seed, 86)}==;EndpointSuffix=core.windows.net",
            letters(seed, 86),
        ),
    ),
    *_of("storage key alone", lambda seed: (f"rotated to {letters(seed, 86)}== today", letters(seed, 86))),
    *_of("service key", lambda seed: (f"use {letters(seed, 43)}AzSe{letters(seed + 'e', 5)}", letters(seed, 43))),
    *_of(
        "entra client secret",
        lambda seed: (f"it is {letters(seed, 3)}8Q~{letters(seed + 'e', 34)} now", letters(seed + "e", 34)),
    ),
    *_of(
        "entra refresh token",
        lambda seed: (
            f"cached 0.A{b64url(seed, 40)}.AgABAwEAAAA{b64url(seed + 'r', 60)} for x",
            b64url(seed + "r", 60),
        ),
    ),
    *_of(
        "devops token",
        lambda seed: (f"git clone with {letters(seed, 76)}AZDO{letters(seed + 'e', 4)}", letters(seed, 76)),
    ),
    *_of(
        "devops token, older",
        lambda seed: (f"pat {'2' + letters(seed, 51, LOWER)} expires", "2" + letters(seed, 51, LOWER)),
    ),
    *_of("jwt", lambda seed: (f"token {jwt(seed)} was refused", jwt(seed))),
    # Providers
    *_token("github", "gh" + "p_", 36),
    *_token("github, fine", "github" + "_pat_", 82),
    *_token("gitlab", "gl" + "pat-", 20),
    *_token("gitlab runner", "gl" + "rt-", 20),
    *_token("docker", "dckr" + "_pat_", 27),
    *_token("grafana", "gl" + "c_", 60),
    *_token("slack", "xox" + "b-", 50, "0123456789"),
    *_token("aws", "AK" + "IA", 16, UPPER),
    *_token("google", "AI" + "za", 35),
    *_token("npm", "np" + "m_", 36),
    *_token("pypi", "py" + "pi-", 80),
    *_token("stripe", "sk" + "_live_", 24),
    *_token("vault", "hv" + "s.", 90),
    *_token("hugging face", "h" + "f_", 34),
    *_token("databricks", "da" + "pi", 32, HEX),
    *_token("digitalocean", "dop" + "_v1_", 64, HEX),
    *_token("openai", "s" + "k-proj-", 60),
    *_token("shopify", "shp" + "at_", 32, HEX),
    *_token("pulumi", "pu" + "l-", 40, HEX),
    *_token("doppler", "dp" + ".pt.", 43),
    *_token("sentry", "sntr" + "yu_", 64, HEX),
    *_token("openshift", "sha256" + "~", 43),
    *_of(
        "grafana account",
        lambda seed: (f"Bearer gl{'sa_'}{letters(seed, 32)}_{letters(seed + 'c', 8, HEX)}", letters(seed, 32)),
    ),
    *_of("sendgrid", lambda seed: (f"S{'G.'}{b64url(seed, 22)}.{b64url(seed + 'b', 43)}", b64url(seed + "b", 43))),
    *_of("stored hash", lambda seed: (f"root:$6$rounds=5000${letters(seed, 60)}:19000:0", letters(seed, 60))),
)
