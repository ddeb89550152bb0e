"""What a service account may do, asked of the API server itself: a SubjectAccessReview, which stores nothing.

Only service accounts are asked about: the groups of a person are known to Entra, and a review without them says no
where the answer is yes. Whom people may ask about is policy (`look.rules.service_accounts`).
"""

from __future__ import annotations

from dataclasses import dataclass

from handlers.clients.kube.reader import KubeReader
from handlers.engine.declare import collector
from handlers.evidence.asked.resources import Resource, resource_of
from handlers.evidence.azure import ManagedCluster
from handlers.evidence.wire import text
from handlers.model import Evidence, NotApplicable, Target
from handlers.question import EVERYWHERE, Question, Word

SERVICE_ACCOUNTS = "/api/v1/namespaces/{}/serviceaccounts"


@dataclass(frozen=True, kw_only=True)
class AskedAccount(Evidence):
    """Whether the account exists. Its neighbours are not kept: the policy may not let this person ask about them."""

    exists: bool


@dataclass(frozen=True, kw_only=True)
class AskedAccess(Evidence):
    """What the API server says of one wish of one service account."""

    allowed: bool
    reason: str
    error: str
    """What kept an authorizer from deciding."""


def user_of(account: str) -> str:
    """`shop/web` as the API server calls it."""
    return f"system:serviceaccount:{account.replace('/', ':')}"


def groups_of(account: str) -> tuple[str, ...]:
    """The groups that every service account is in; a review does not add them by itself."""
    namespace = account.partition("/")[0]
    return "system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"


def namespace_asked(asked: Question, resource: Resource) -> str:
    """Where: the namespace that was named, or the account's own; empty for the whole cluster."""
    named = asked.values[3] if len(asked.values) > 3 else asked.first[0]
    return named if resource.namespaced and named != EVERYWHERE else ""


@collector(reads=(), sees=("list serviceaccounts",))
async def asked_account(target: Target, cluster: ManagedCluster, kube: KubeReader) -> AskedAccount | NotApplicable:
    """whether the service account exists"""
    asked = target.about
    if asked is None or asked.word is not Word.RBAC or cluster.stopped:
        return NotApplicable("nobody asked what a service account may do" if asked is None else _stopped(cluster))
    namespace, name = asked.first
    listed = await kube.list(SERVICE_ACCOUNTS.format(namespace), lambda body: text(body, "metadata", "name"))
    return AskedAccount(
        source=listed.source, taken_at=listed.taken_at, truncated=listed.truncated, exists=name in listed.items
    )


@collector(reads=(), sees=("create subjectaccessreviews.authorization.k8s.io",))
async def asked_access(target: Target, cluster: ManagedCluster, kube: KubeReader) -> AskedAccess | NotApplicable:
    """what the service account may do"""
    asked = target.about
    if asked is None or asked.word is not Word.RBAC or cluster.stopped:
        return NotApplicable("nobody asked what a service account may do" if asked is None else _stopped(cluster))
    resource = resource_of(asked.values[2])
    if resource is None:
        return NotApplicable(f"Kubernetes has no resource {asked.values[2]}")
    account, where = asked.values[0], namespace_asked(asked, resource)
    answer = await kube.review(
        user_of(account), groups_of(account), asked.values[1], resource.name, resource.group, where
    )
    return AskedAccess(
        source=answer.source,
        taken_at=answer.taken_at,
        allowed=answer.body["allowed"] is True,
        reason=text(answer.body, "reason"),
        error=text(answer.body, "evaluationError"),
    )


def _stopped(cluster: ManagedCluster) -> str:
    return f"{cluster.name} is stopped: its API server does not run"
