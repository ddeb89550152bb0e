"""Which cause an error of Azure's names: by its code, or by the sentence that comes with it.

The same codes stand in the runbooks' `symptoms`, by which a pasted text is recognised; a test compares them. A sign is
narrower: what it names may claim a failure, so that words people use for a problem do not count here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from runbooks.linear import compile_linear

DENIED_BY_POLICY = "request-disallowed-by-policy"


class Place(IntEnum):
    """Where the Azure document looks for the cause of a failed node pool, by the number of its step."""

    INSTANCES = 3
    QUOTA = 5
    POLICIES = 6
    LOCKS = 7


@dataclass(frozen=True, slots=True)
class Cause:
    """Azure's codes that name this cause alone, and the step that a failed pool's walk looks for it in, if one does."""

    codes: tuple[str, ...] = ()
    place: Place | None = None


CAUSES: Mapping[str, Cause] = {
    "quota-exceeded": Cause(("QuotaExceeded", "ErrCode_InsufficientVCPUQuota", "InsufficientVCPUQuota"), Place.QUOTA),
    "subnet-full": Cause(("SubnetIsFull", "InsufficientSubnetSize")),
    "allocation-failed": Cause(
        (
            *("AllocationFailed", "ZonalAllocationFailed", "SkuNotAvailable", "AvailabilityZoneNotSupported"),
            *("AKSCapacityError", "AksCapacityHeavyUsage", "VMSizeNotSupported", "NotAvailableForSubscription"),
        ),
        Place.QUOTA,
    ),
    "overconstrained-allocation": Cause(
        ("OverconstrainedAllocationRequest", "OverconstrainedZonalAllocationRequest"), Place.QUOTA
    ),
    "public-ip-count-limit": Cause(
        (
            *("PublicIPCountLimitReached", "PublicIPCountLimitReachedForBasicSku"),
            *("IPv4StandardSkuPublicIpCountLimitReached", "StandardSkuPublicIPAddressesCountLimitReached"),
        ),
        Place.QUOTA,
    ),
    DENIED_BY_POLICY: Cause(("RequestDisallowedByPolicy", "RequestDisallowedByAzure"), Place.POLICIES),
    "resource-lock": Cause(("ScopeLocked",), Place.LOCKS),
    "pdb-blocks-drain": Cause(("UnsatisfiablePDB",)),
    "drain-error": Cause(("PodDrainFailure", "NodeDrainError")),
    "subscription-not-registered": Cause(("SubscriptionNotRegistered", "MissingSubscriptionRegistration")),
    "read-only-disabled-subscription": Cause(
        ("ReadOnlyDisabledSubscription", "SubscriptionDisabled", "DisabledSubscription")
    ),
    "outbound-conn-fail": Cause(("OutboundConnFailVMExtensionError", "ERR_OutboundConnFail"), Place.INSTANCES),
    "cse-error": Cause(
        (
            *("K8SAPIServerConnFailVMExtensionError", "K8SAPIServerDNSLookupFailVMExtensionError"),
            "K8SAPIServerAzureDNSLookupFailVMExtensionError",
        ),
        Place.INSTANCES,
    ),
    "node-vm-failed": Cause(place=Place.INSTANCES),
    "kube-system-not-running": Cause(("ControlPlaneAddOnsNotReady",)),
    "log-analytics-workspace-missing": Cause(),
    "invalid-resource-reference": Cause(("InvalidResourceReference",)),
    "private-dns-zone": Cause(
        (
            *("PrivateDNSZoneNotFound", "CustomPrivateDNSZoneMissingPermissionError"),
            *("CustomPrivateDNSZoneMissingPermissions", "PrivateDNSZoneNotMatch", "LinkedPrivateDnsZone"),
        ),
    ),
}

_BY_CODE = {azure.lower(): code for code, cause in CAUSES.items() for azure in cause.codes}

_EXIT = r"exit(?:ed with)?(?: status| code)?[=: ]{1,3}"
_SENTENCES = (
    (DENIED_BY_POLICY, r"disallowed ?by ?policy"),
    ("read-only-disabled-subscription", r"disabled and therefore marked as read ?only|readonlydisabledsubscription"),
    ("subscription-not-registered", r"missingsubscriptionregistration|not registered to use namespace"),
    ("resource-lock", r"scopelocked|scope\(s\) are locked|is locked, please remove"),
    (
        "subnet-full",
        r"subnetisfull|subnet is full|insufficientsubnetsize|does not have enough capacity for \d+ ip addr",
    ),
    ("quota-exceeded", r"quotaexceeded|insufficientvcpuquota|insufficient (?:regional )?vcpu quota"),
    # Karpenter's reasons for a NodeClaim that waits: the quota of a family (or of spot cores), that of the region.
    ("quota-exceeded", r"\b(?:subscription|regional)quotareached\b"),
    ("quota-exceeded", r"(?:\bcores?\b|vcpus?).{0,80}\bquota\b|\bquota\b.{0,80}(?:\bcores?\b|vcpus?|exceed)"),
    (
        "overconstrained-allocation",
        r"overconstrained(?:zonal)?allocationrequest|cannot be allocated, because the condition is too restrictive",
    ),
    (
        "allocation-failed",
        r"\b(?:zonal)?allocationfailed|sufficient capacity for the requested vm size|skunotavailable",
    ),
    ("allocation-failed", r"is not allowed in your subscription in location"),
    ("allocation-failed", r"akscapacity\w{1,20}|zone\(s\) .{1,40} for resource .{1,60} (?:is|are) not supported"),
    ("public-ip-count-limit", r"publicip(?:addresse?s?)?countlimitreached"),
    ("pdb-blocks-drain", r"unsatisfiablepdb"),
    ("drain-error", r"poddrain|drain(?:ing)? (?:of )?node|drain did not|evict(?:ing)? pod|blocked by pdb"),
    ("drain-error", r"conflicting disruption budgets"),
    ("private-dns-zone", r"private ?dns ?zones?\b"),
    ("log-analytics-workspace-missing", r"log analytics workspace.{0,80}(?:info|not (?:be )?found|does not exist)"),
    ("invalid-resource-reference", r"invalidresourcereference"),
    ("outbound-conn-fail", rf"outboundconnfail|outbound connection from agents|{_EXIT}50\b"),
    ("cse-error", r"\w+VMExtensionError\b|VMExtensionError_\w+|WINDOWS_CSE_ERROR_\w+"),
    ("cse-error", r"connection (?:from agents )?to kubernetes api server|unable to resolve kubernetes api server name"),
    (
        "cse-error",
        rf"(?:vmsscse|cse-agent|custom ?script).{{0,300}}{_EXIT}[1-9]\d{{0,2}}\b",
    ),
)
_EACH = [(code, compile_linear(pattern, ignore_case=True)) for code, pattern in _SENTENCES]
_ANY = compile_linear("|".join(f"(?:{pattern})" for _, pattern in _SENTENCES), ignore_case=True)
"""What is searched for where the code says nothing by itself: the first that fits. Exit 50 is no other exit."""

_LONGEST = 4000
"""An error's text is a few hundred characters; nothing that names a cause stands behind this many."""


def named_cause(code: str, message: str) -> str:
    """The finding code of the cause that an error names; empty where it names none that is known."""
    by_code = _BY_CODE.get(code.lower())
    if by_code:
        return by_code
    text = f"{code} {message[:_LONGEST]}"
    if not _ANY.search(text):
        return ""
    return next((cause for cause, sentence in _EACH if sentence.search(text)), "")


def looked_for_at(place: int) -> tuple[str, ...]:
    """The finding codes of the causes that a failed pool's walk looks for in this step."""
    return tuple(code for code, cause in CAUSES.items() if cause.place == place)
