"""Findings about what Azure refuses Azure Service Operator: for the resource itself, or for who asks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from handlers.diagnose.aso.facts import also, credential, facts_of, quoted, since, tries
from handlers.diagnose.aso.problems import Problem
from handlers.diagnose.aso.standing import Standing
from handlers.evidence.aso.resources import AsoResources
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.signs import named_cause
from handlers.model import Finding
from runbooks.linear import compile_linear

REFUSED, IDENTITY = "aso-creation-failed", "aso-auth-error"
_LACKS = compile_linear(
    r"not have (?:authorization|permission) to perform action(?:\(s\))? '(?P<action>[\w./*-]{5,160})'"
)
_SCOPE = compile_linear(r"(?:over scope|on the linked scope\(s\)) '(?P<scope>/[^'\s]{5,300})'")
_CLIENT = compile_linear(r"client '(?P<client>[\w-]{8,80})'")
_OBJECT = compile_linear(r"object id '(?P<object>[\w-]{36})'")
_SIGN_IN = compile_linear(r"AADSTS\d{5,7}")
_MISSING_SECRET = compile_linear(r"credential secret", ignore_case=True)


def refused(problem: Problem, resources: AsoResources, cluster: ManagedCluster) -> Finding:
    """Azure refuses to create, change or delete a resource."""
    one = problem.first
    return Finding(
        code=REFUSED,
        subject=one.subject,
        affects=problem.affects,
        because=(
            f"{one.subject} has not been ready {since(one, resources.taken_at)}: {one.error.code or one.reason}",
            f"Azure said: {quoted(one)}",
            tries(one),
            *also(problem),
        ),
        facts=facts_of(problem, cluster) | {"page": named_cause(one.error.code, one.error.message)},
        began=one.since,
    )


def by_identity(one: Standing) -> Hashable:
    """One identity without one permission is one problem; of an identity that Azure does not name, its credential."""
    who, action, _ = lacks(one)
    where = (one.resource.credential, one.resource.namespace if not who else "")
    return who or where, action or one.error.code.lower(), sign_in(one)


def lacks(one: Standing) -> tuple[str, str, str]:
    """Identity, permission and scope, as Azure names them."""
    text = one.error.message
    who = _OBJECT.search(text), _CLIENT.search(text)
    action, scopes = _LACKS.search(text), [found["scope"] for found in _SCOPE.finditer(text)]
    identity = who[0]["object"] if who[0] else who[1]["client"] if who[1] else ""
    return identity, action["action"] if action else "", scopes[-1] if scopes else ""


def sign_in(one: Standing) -> str:
    """The code of Entra ID that refused to sign it in."""
    found = _SIGN_IN.search(one.error.message)
    return found[0] if found else ""


def without_permission(problem: Problem, resources: AsoResources, cluster: ManagedCluster) -> Finding:
    """ASO uses an identity that may not do what a resource needs, or none that Azure lets in."""
    one = problem.first
    who, action, scope = lacks(one)
    return Finding(
        code=IDENTITY,
        subject=one.subject,
        affects=problem.affects,
        because=(
            f"{one.subject} has not been ready {since(one, resources.taken_at)}: {_in_words(one)}",
            f"Azure said: {quoted(one)}",
            f"credential: {credential(one.resource)}",
            *also(problem),
        ),
        facts=facts_of(problem, cluster)
        | {
            "cause": _cause(one),
            "identity": who or "<identity>",
            "permission": action or "<permission>",
            "scope": scope or "<scope>",
            "says": sign_in(one) or one.error.code,
        },
        began=one.since,
    )


def _cause(one: Standing) -> str:
    if one.reason == "SecretNotFound" or _MISSING_SECRET.search(one.error.message):
        return "secret"
    if one.reason == "SubscriptionMismatch":
        return "subscription"
    return "permission" if lacks(one)[1] else "sign-in"


def _in_words(one: Standing) -> str:
    return " ".join(_words(one))


def _words(one: Standing) -> Iterator[str]:
    who, action, scope = lacks(one)
    match _cause(one):
        case "secret":
            yield f"the secret of its credential is missing or incomplete: {credential(one.resource)}"
        case "subscription":
            yield "its credential is for another subscription"
        case "permission":
            yield f"identity {who or 'of its credential'} lacks {action}"
            yield f"on {scope}" if scope else ""
        case _:
            yield f"Azure does not let its identity in ({sign_in(one) or one.error.code})"
