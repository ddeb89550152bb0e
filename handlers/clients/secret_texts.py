"""How secrets look in any text, and the few letters that each of them cannot do without."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from handlers.clients.secret_keys import PLAIN, WHOLE_BRANCH, kind_of_key, looks_harmless, mark

Match = re.Match[str]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One look. `hints`: lower-case letters of which one must be there before the (slow) look is taken."""

    kind: str
    hints: tuple[str, ...]
    look: re.Pattern[str]
    become: Callable[[Match], str] | None = None

    def scrub(self, text: str) -> str:
        return self.look.sub(self.become or self._marked, text)

    def _marked(self, found: Match) -> str:
        """The mark, behind what is kept to understand it."""
        return (found.groupdict().get("keep") or "") + mark(self.kind)


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints that a body holds; a text without any of them is clean. `long_runs`: look at every long text."""

    words: tuple[str, ...]
    long_runs: bool

    def any_in(self, text: str) -> bool:
        low = text.lower()
        return any(word in low for word in self.words) or (self.long_runs and len(text) >= len(_LONG_RUN))


def hints_in(text: str) -> Hints:
    """Letters are looked for one by one first: most hints have one that is nowhere in an ordinary answer."""
    low = text.lower()
    letters = {letter for letter in _LETTERS if letter in low}
    words = tuple(hint for hint in _HINTS if letters.issuperset(hint) and hint in low)
    return Hints(words, _LONG_RUN in text.encode(errors="replace").translate(_RUNS))


def patterns_for(text: str) -> tuple[Pattern, ...]:
    """The patterns that may be in a text."""
    low = text.lower()
    return tuple(one for one in PATTERNS if not one.hints or any(hint in low for hint in one.hints))


def scrub(text: str, patterns: tuple[Pattern, ...]) -> str:
    """Until nothing more is found: what one look leaves behind may be another's."""
    for _ in range(4):
        clean = text
        for one in patterns:
            clean = one.scrub(clean)
        if clean == text:
            return text
        text = clean
    return text


LONGEST_LINE = 200
_MARK = r"(?!\[redacted:)"
_LONG_RUN = b"x" * 52
_RUNS = bytes(ord("x") if chr(code) in "abcdefghijklmnopqrstuvwxyz234567" else 32 for code in range(256))
_GUID = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$", re.IGNORECASE)
_TELLING = re.compile(r"[\d~!@#$%^*+/=]")


def _pattern(kind: str, hints: str, look: str, flags: int = 0) -> Pattern:
    return Pattern(kind, tuple(hints.split()), re.compile(look, flags))


def _assigned(found: Match, depth: int = 0) -> str:
    """`password=…`, `"adminPassword": "…"`, `token: …`, and behind another: `failed: password=…`."""
    kind = kind_of_key(found["key"])
    said = found["quoted"] if found["quoted"] is not None else found["bare"]
    if said.startswith("[redacted:") or looks_harmless(said):
        return found[0]
    if kind in ("", PLAIN):
        return _behind(found, said, depth)
    if not _surely(found, said, kind):
        return found[0]
    quote = found["quote"] or ""
    return f"{found['keep']}{quote}{mark(kind)}{quote if found['end'] else ''}"


def _behind(found: Match, said: str, depth: int) -> str:
    """What is assigned to a harmless name may be an assignment itself."""
    if "=" not in said and ":" not in said:
        return found[0]
    deeper = depth < DEEPEST
    inner = _ASSIGNED.look.sub(lambda match: _assigned(match, depth + 1), said) if deeper else mark("secret")
    return found[0] if inner == said else found[0].replace(said, inner)


def _surely(found: Match, said: str, kind: str) -> bool:
    """Whether it is an assignment at all: behind a colon prose may follow ("token: expired on Monday")."""
    if kind in WHOLE_BRANCH or kind == "docker-auth":
        return len(said) >= 12 and found["quoted"] is not None
    if "=" in found["sep"]:
        return len(said) >= 3
    if found["quoted"] is not None or _fills_its_line(found):
        return True
    return not _GUID.match(said) and (len(said) >= 20 or (len(said) >= 6 and bool(_TELLING.search(said))))


def _fills_its_line(found: Match) -> bool:
    text, start, end = found.string, found.start(), found.end()
    before = text[max(0, start - LONGEST_LINE) : start].rpartition("\n")[2]
    after = text[end : end + LONGEST_LINE].partition("\n")[0]
    return not before.strip(" \t-") and not after.strip()


DEEPEST = 20
"""Assignments in assignments: a text made to nest further hides something."""

_ASSIGNED = Pattern(
    "secret",
    (
        *("pass", "pwd", "secret", "token", "key", "credential", "sas", "auth"),
        *("connectionstring", "kubeconfig", "customdata", "userdata"),
    ),
    re.compile(
        r"(?P<keep>(?P<name>\\{0,8}[\"']?)(?<![\w.-])(?P<key>\$?[A-Za-z_.][\w.-]{0,80})(?P=name)"
        r"(?P<sep>\s*=>?\s*|[ \t]*:[ \t]*))"
        r"(?:(?P<quote>\\{0,8}[\"'])(?P<quoted>(?:(?!(?P=quote)).)+)(?P<end>(?P=quote))?"
        r"|(?P<bare>[^\s\"'\\;&<>,]+))",
        re.DOTALL,
    ),
    _assigned,
)
_NAME_AND_VALUE = Pattern(
    "secret",
    ("value:",),
    re.compile(r"(?P<keep>\bname:[ \t]*(?P<key>[\w.-]+)[ \t]*\n[ \t]*value:[ \t]*)(?P<value>[^\s\[][^\n]*)"),
    lambda found: (
        f"{found['keep']}{mark(kind)}" if (kind := kind_of_key(found["key"])) not in ("", PLAIN) else found[0]
    ),
)
_FLAG = Pattern(
    "secret",
    ("--",),
    re.compile(r"(?P<keep>(?<!-)--(?P<key>[\w-]{1,60})(?:[ \t]+|=)(?P<quote>[\"']?))(?P<value>[^\s\"'-][^\s\"']*)"),
    lambda found: (
        f"{found['keep']}{mark(kind)}"
        if (kind := kind_of_key(found["key"])) not in ("", PLAIN)
        and not looks_harmless(found["value"])
        and not found["value"].startswith("[redacted:")
        else found[0]
    ),
)
_AWS_SECRET = Pattern(
    "aws",
    ("akia", "asia", "aws"),
    re.compile(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"),
    # Forty letters are anything (a commit, a digest), but beside an access key's id they are its secret.
    lambda found: mark("aws") if "aws" in found.string.lower() else found[0],
)

PATTERNS: tuple[Pattern, ...] = (
    _pattern(
        "private-key",
        "-----begin",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        re.DOTALL,
    ),
    _pattern("jwt", "eyj", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}"),
    _pattern(
        "github",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,})",
    ),
    _pattern("gitlab", "glpat-", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    _pattern("slack", "xox xapp-", r"\b(?:xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,})"),
    _pattern(
        "webhook",
        "hooks.slack webhookb2 discord",
        r"(?P<keep>https://(?:hooks\.slack\.com/(?:services|workflows|triggers)"
        r"|[\w.-]*webhook\.office\.com/webhookb2|discord(?:app)?\.com/api/webhooks)/)" + _MARK + r"[^\s\"'<>\\|]+",
    ),
    _pattern("aws", "akia asia abia acca", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _AWS_SECRET,
    _pattern("google", "aiza gocspx- ya29.", r"\b(?:AIza[A-Za-z0-9_-]{30,}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})"),
    _pattern("npm", "npm_", r"\bnpm_[A-Za-z0-9]{30,}"),
    _pattern("stripe", "_live_ _test_ whsec_", r"\b(?:[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{20,})"),
    _pattern("api-key", "sk-", r"(?<![A-Za-z0-9_-])sk-(?:[a-z0-9]+-)*[A-Za-z0-9_]{20,}[A-Za-z0-9_-]*"),
    _pattern("sendgrid", "sg.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
    _pattern("pypi", "pypi-", r"\bpypi-[A-Za-z0-9_-]{30,}"),
    _pattern("vault", "hvs. hvb.", r"\bhv[sb]\.[A-Za-z0-9_-]{20,}"),
    _pattern("hugging-face", "hf_", r"\bhf_[A-Za-z0-9]{30,}"),
    _pattern("databricks", "dapi", r"\bdapi[a-f0-9]{32}\b"),
    _pattern("digitalocean", "_v1_", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    _pattern("client-secret", "q~", r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"),
    _pattern("devops-pat", "azdo", r"\b[A-Za-z0-9]{70,80}AZDO[A-Za-z0-9]{4,6}\b"),
    _pattern("devops-pat", "", r"(?<![A-Za-z0-9])[a-z2-7]{52}(?![A-Za-z0-9])"),
    _pattern(
        "azure-key",
        "+ast +aeh +asb +arm acdb azfu azse azca azcr +acr +aiot jqqj99",
        r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{28,}"
        r"(?:\+A(?:St|Eh|Sb|Rm|CR|IoT)|ACDb|AzFu|AzSe|AzCa|AzCR|JQQJ99)[A-Za-z0-9+/]{4,}={0,2}",
    ),
    _pattern("azure-key", "==", r"(?<![A-Za-z0-9+/-])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])"),
    _pattern(
        "basic-auth",
        "://",
        r"(?P<keep>\b[A-Za-z][A-Za-z0-9+.-]{0,30}://)" + _MARK + r"[^\s/@:\"'<>]{0,200}:[^\s/\"'<>]{0,400}(?=@)",
    ),
    _pattern("basic-auth", "://", r"(?P<keep>\b[a-z][a-z0-9+.-]{0,30}://)" + _MARK + r"[A-Za-z0-9_-]{20,}(?=@)"),
    _pattern("sas", "sig=", r"(?P<keep>\bsig=)" + _MARK + r"[^&\s\"'<>\\;,]+", re.IGNORECASE),
    _pattern("sas", "sig%3d", r"(?P<keep>\bsig%3d)" + _MARK + r"[^&\s\"'<>\\;,]+", re.IGNORECASE),
    _pattern("signed-url", "&s= &h= \\u0026s=", r"(?P<keep>(?:[?&]|\\u0026)[tcsh]=)" + _MARK + r"[^&\s\"'<>\\]{6,}"),
    _pattern("function-key", "code=", r"(?P<keep>[?&]code=)" + _MARK + r"[A-Za-z0-9_\-+/=%]{20,}"),
    _pattern(
        "authorization",
        "authorization",
        r"(?P<keep>\bauthorization\\{0,8}[\"']?\s*[:=]\s*\\{0,8}[\"']?(?:basic|bearer|digest|negotiate|sharedkey(?:lite)?"
        r"|sharedaccesssignature|token|apikey)\s+)" + _MARK + r"[^\s\"'\\,;]+",
        re.IGNORECASE,
    ),
    _pattern(
        "bearer",
        "bearer",
        r"(?P<keep>\bbearer\s+)(?![a-z_]+=)(?=[A-Za-z._~+/-]*\d)[A-Za-z0-9._~+/-]{16,}=*",
        re.IGNORECASE,
    ),
    _pattern(
        "key",
        "client-key-data",
        r"(?P<keep>client-key-data\\{0,8}[\"']?\s*:\s*\\{0,8}[\"']?)" + _MARK + r"[A-Za-z0-9+/=]+",
    ),
    _pattern(
        "password",
        "passw passph",
        r"(?P<keep>\b(?:password|passwd|passphrase)(?: is| was)? (?P<quote>[\"']))"
        + _MARK
        + r"[^\"'\n]{3,}(?=(?P=quote))",
        re.IGNORECASE,
    ),
    _FLAG,
    _NAME_AND_VALUE,
    _ASSIGNED,
    _pattern(
        "email",
        "@",
        r"(?<![\w.%+#@-])(?!git@)[A-Za-z0-9._%+#-]+(?:'[A-Za-z0-9._%+#-]+)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b",
    ),
)
"""The order matters where two looks overlap: the more special one stands first."""

_HINTS = tuple(sorted({hint for one in PATTERNS for hint in one.hints}))
_LETTERS = frozenset("".join(_HINTS))
