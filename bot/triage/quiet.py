"""Why the bot should stay silent although words match: it is over, it is elsewhere, or nobody has the problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.triage.literals import Choice, lowered, needs
from runbooks.linear import compile_linear
from runbooks.patterns import Found, Searchable, searchable


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for silence. Most only weigh against an answer, as trained; a final one forbids it."""

    name: str
    found: str
    final: bool
    covers_files: bool
    """What lies beside is of the same other time or place."""


_OVER, _ELSEWHERE = "it is over", "another place"
_NOT_ALL_WELL = compile_linear(
    r"(?i)[⚠❌🔴⛔🚨🔥✖✗🛑🟥🟠]|:(?:x|red_circle|warning|rotating_light|fire):|\[ ?(?:fail|err|warn|crit)"
    r"|\b(?:but|still|yet|again|however|too early|acknowledged|firing)\b"
)


@dataclass(frozen=True, slots=True)
class Unless:
    """A pattern with exceptions."""

    pattern: str
    also: str = ""
    """Where this matches too, it does not count."""
    all_well: bool = False
    """What heads a text is true of all of it only if nothing below speaks against it."""


REASONS: dict[str, tuple[str | Unless, ...]] = {
    _OVER: (
        r"\A\W{0,6}(?:resolved|closed|recovered)\b(?:\]|\W{0,3}[:–—|-]|\W{0,3}$)",
        r"\A\W{0,6}(?:post-? ?mortem|RCA|PIR)\b(?:\]|\W{0,3}[:–—|-])",
        Unless(r"\A\W{0,6}\[(?:OK|UP|recovery|recovered)\]", all_well=True),
        Unless(r"\A[^\n]{0,120}?(?-i:[\[*|·→] ?(?:RESOLVED|RECOVERED)\b)", all_well=True),
        Unless(
            r"\A[^\n]{0,120}?(?-i:\b(?:RESOLVED|RECOVERED)[:\]*])",
            r"(?-i:(?:NOT |YET |BE |UN-|NO )(?:RESOLVED|RECOVERED)[:\]*])",
            all_well=True,
        ),
        Unless(
            r"\A[^\n]{0,120}?(?-i:\bRECOVERY(?:[:\]*]| \w{1,80} Alert))",
            r"(?-i:(?:NO|DISASTER) RECOVERY)",
            all_well=True,
        ),
        Unless(
            r"\A[^\n]{0,120}?→ ?\*{0,2}(?:resolved|recovered)\b",
            r"(?:resolved|recovered)\*{0,2} (?:to\b|as\b|\d)",
            all_well=True,
        ),
        Unless(r"\A\W{0,6}:?(?:(?:white|heavy)_check_mark|large_green_circle|green_circle):", all_well=True),
        Unless(r"\A\W{0,3}[✅🟢✔]", all_well=True),
        r"^\W{0,4}\*{0,2}resolved:?\*{0,2}:",
        r"\bstatus\W{1,4}resolved\b",
        r"\"status\": ?\"resolved\"",
        r"\bmonitorCondition\"?[:= ]{1,3}\"?Resolved",
    ),
    "it seems over": (
        r"\ball clear\b",
        r"\b(?:is|are|was|been|got|looks?|seems?) (?:now )?(?:solved|mitigated|fixed)\b",
        Unless(r"\b(?:is|are|was|been|got|looks?|seems?) (?:now )?resolved\b", r"resolved (?:to|by|from|via|wrong)"),
        r"\b(?:no (?:new )?(?:failures|errors|issues|alerts) since)\b",
        r"\A\W{0,4}(?:closing|closed|resolved|solved|mitigated|recovered|fixed|sorted)\b",
        r"\b(?:incident|ticket|issue|alert) (?:is )?(?:closed|over|resolved)\b",
        r"\b(?:back to (?:normal|green|healthy)|recovered (?:by itself|on its own)|ha(?:s|ve) recovered)\b",
        r"\b(?:false alarm|never ?mind)\b",
        r"\ball (?:good|green|fine) (?:now|again)\b",
    ),
    "it may be over": (
        r"\b(?:went|gone) away (?:again|by itself|after)",
        r"\bwork(?:s|ing) again\b",
    ),
    "an old incident": (
        r"\bpost-?mortems?\b",
        r"\bretro(?:spective)?s?\b",
        r"\blessons learned\b",
        r"\bjust history\b",
        r"\bfor the record\b",
        r"\b(?:last|this time last) year'?s?\b",
        r"\bonboarding (?:deck|doc|session|page)\b",
        r"\bwar stor(?:y|ies)\b",
        r"\bRCA\b.{0,40}\b(?:doc|attached|draft|from|for)\b",
        r"\broot cause analysis\b",
        r"\b(?:back in|in) 20(?:1\d|2[0-3])\b",
        r"\bremember (?:when|that time|the)\b",
        r"[\"“]the day (?:our|we|when)\b",
        r"\bmeet-?up\b",
        r"\bconference\b",
        r"\bblog ?post\b",
        r"\bslides?\b",
        r"\bquiz\b",
        r"\bgame ?day\b",
        r"\bchaos (?:test|experiment|day)\b",
        r"\bfire drill\b",
        r"\btabletop\b",
    ),
    _ELSEWHERE: (
        r"\bEKS\b",
        r"\bGKE\b",
        r"\bOpenShift\b",
        r"\bminikube\b",
        r"\bk3s\b",
        r"\bk3d\b",
        r"\bmicrok8s\b",
        r"\bhomelab\b",
        r"\bhome ?lab\b",
        r"\bRKE2?\b",
        r"\bRancher\b",
        r"\bkops\b",
        r"\bkubeadm\b",
        r"amazonaws\.com",
        r"\bgoogle(?:'s)? (?:cloud|cluster)",
        r"\bGCE_",
        r"\bgke-",
        r"\bAWS\b",
        r"\bGCP\b",
        r"\beksctl\b",
        r"\bDigital ?Ocean\b",
        r"\bkind cluster\b",
        r"\b(?:OKE|LKE|DOKS|IKS|MKS|k0s|RKE1|Harvester|Gardener|Tanzu|TKGI?|Talos|Nutanix|Karbon|Kapsule|Proxmox)\b",
        r"\b(?:Linode|Hetzner|OVH(?:cloud)?|Scaleway|Exoscale|UpCloud|Civo|Vultr|STACKIT|Ionos|Platform9|Kubermatic)\b",
        r"\b(?:Oracle|IBM|Alibaba|Tencent) Cloud\b",
        r"\b(?:us|eu|ap|sa|ca)-(?:east|west|north|south|central|northeast|southeast)-?\d[a-c]?\b",
        r"\b(?:us|europe|asia|australia)-(?:east|west|north|south|central|northeast|southeast)\d-[a-f]\b",
        r"\bdocker desktop\b",
        r"\braspberry\b",
        Unless(r"\bnot ours\b", r"<not ours|not ours>"),
        r"\bno (?:k8s|aks|kubernetes) involved\b",
        r"\bnot (?:aks|our cluster)\b",
        r"\bself-?(?:built|managed|hosted) (?:cluster|k8s|kubernetes)",
    ),
    "an exercise": (
        r"\bthis is (?:only )?a test\b",
        r"\btest alert\b",
        r"\bdummy alert\b",
        r"\btesting (?:the )?(?:alert|webhook|bot|integration)\b",
        r"\bsimulated\b",
        r"\bplease ignore\b",
        r"\bignore this\b",
        r"\bjust (?:a )?joke\b",
    ),
    "a wish or a plan": (
        r"\bfeature (?:wish|request|idea)\b",
        r"\bwould be (?:nice|great|cool)\b",
        r"\bi'?d (?:want|love|like) (?:them|it|to have|a)\b",
        r"\bwish(?:list)?\b",
        r"\bproposal\b",
        r"\broadmap\b",
        r"\bPR (?:up|open|ready|merged|for)\b",
        r"\bpull request\b",
        r"\breviews? welcome\b",
        r"\bplease review\b",
        r"\bopened a PR\b",
        r"\bbacklog\b",
        r"\bRFC\b",
        r"\bwe (?:should|could) (?:add|build|write|have|automate|alert)\b",
        r"\bnext (?:sprint|quarter|year)\b",
        r"\bplanning to\b",
        r"\bidea:",
    ),
    "an announcement": (
        r"\breminder\b",
        r"\bwent (?:through|fine|well|smoothly)\b",
        r"\bheads[- ]?up\b.{0,80}\b(?:will|going to|planned|tonight|tomorrow|maintenance)\b",
        r"\bFYI\b",
        r"\bmaintenance window (?:tonight|tomorrow|on|from|starts|is|next|this)\b",
        r"\bas usual\b",
        r"\bscheduled (?:maintenance|upgrade|downtime)\b",
        r"\bdeployed? (?:v|version )\d",
        r"\brelease notes?\b",
        r"\brolled out\b.{0,40}\b(?:fine|ok|successfully|to)\b",
        r"\bnow (?:live|available|GA)\b",
        r"\bsuccessfully\b",
        r"\bno action (?:needed|required)\b",
        r"\bkudos\b",
        r"\bthanks? (?:all|everyone|to)\b",
    ),
    "a question of knowledge": (
        r"\bhow much (?:is|does|do|would)\b",
        r"\bpric(?:e|es|ing)\b",
        r"\bcosts? (?:per|a month|us|me)\b",
        r"\bcost of\b",
        r"\bdocs? (?:list|say|claim)s?\b.{0,80}\?",
        r"\bwhat(?:'s| is| was) (?:our|the) .{0,40}\blimit\b",
        r"\bdifference between\b",
        r"\bwhat(?:'s| is) the (?:best|recommended)\b",
        r"\bis better\b",
        r"\bany experience with\b",
        r"\bsecurity (?:finding|review|audit)\b",
        r"\bpen-?test\b",
        r"\bcan one\b",
        r"\bhow long (?:do|does|is|are|can)\b",
        r"\bno,? it was (?:just|only)\b",
        r"\bwhat(?:'s| is) the (?:max|maximum|limit|minimum|default)\b",
        r"\bhow many .{1,60} (?:can|may|per)\b",
        r"\bis it possible to\b",
        r"\bdo we have a (?:doc|runbook|dashboard)\b",
        r"\bnot urgent\b",
        r"\bcurious\b",
        r"\bwhat does .{1,40} (?:mean|stand for)\b",
    ),
    "banter": (
        r"\bmeme\b",
        r":joy:",
        r":rofl:",
        r":popcorn:",
        r"\bmy brain\b",
        r"\bneed coffee\b",
        r"\blunch\?",
        r"\bbeers?\b",
        r"\bhappy (?:friday|birthday)\b",
        r"\bbirthday\b",
    ),
}
_BESIDE_OURS = "another place, beside ours"
_FINAL = frozenset({_OVER, "an exercise"})
_COVERS_FILES = _FINAL | {"it seems over", "an old incident", _ELSEWHERE, "banter"}
_COMPARES = compile_linear(
    r"(?i)\b(?:same|identical|never|unlike|compared?|vs|while|whereas|difference|instead|works)\b"
)
_OURS = compile_linear(r"(?i)\bAKS\b|\baz aks\b|azmk8s\.io|Microsoft\.ContainerService|\baks-\w{1,12}-\d{8}-vmss")
"""Who compares with another cloud has the problem here."""


class Quiet:
    """All reasons, prepared for searching."""

    def __init__(self) -> None:
        self._looks = [Look.of(name, pattern) for name, patterns in REASONS.items() for pattern in patterns]
        self._choice = Choice(needs(look.pattern) for look in self._looks)

    def reasons(self, text: str) -> Iterator[Reason]:
        for name, found in self.found(text).items():
            if name != _ELSEWHERE or not _OURS.search(text):
                yield Reason(name, found, name in _FINAL, name in _COVERS_FILES)
            elif not _COMPARES.search(text):
                yield Reason(_BESIDE_OURS, found, final=False, covers_files=False)

    def found(self, text: str) -> dict[str, str]:
        """For each reason, its first match."""
        first: dict[str, tuple[int, str]] = {}
        for at in self._choice.of(lowered(text)):
            look = self._looks[at]
            hit = look.search(text)
            if hit and (look.name not in first or hit.start() < first[look.name][0]):
                first[look.name] = hit.start(), hit[0]
        return {name: match.strip()[:60] for name, (_, match) in first.items()}


@dataclass(frozen=True, slots=True)
class Look:
    """One pattern of one reason."""

    name: str
    pattern: str
    expression: Searchable
    all_well: bool

    @classmethod
    def of(cls, name: str, pattern: str | Unless) -> Look:
        wanted = pattern if isinstance(pattern, Unless) else Unless(pattern)
        also = wanted.also and f"(?im){wanted.also}"
        return cls(name, wanted.pattern, searchable(f"(?im){wanted.pattern}", also), wanted.all_well)

    def search(self, text: str) -> Found | None:
        hit = self.expression.search(text)
        return None if hit and self.all_well and _NOT_ALL_WELL.search(text, hit.end()) else hit
