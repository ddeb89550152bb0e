"""May this service account do this?"""

from __future__ import annotations

from collections.abc import Iterator

from handlers.engine.declare import diagnostic
from handlers.evidence.asked.access import AskedAccess, AskedAccount, groups_of, namespace_asked, user_of
from handlers.evidence.asked.resources import Resource, is_verb, near_resources, near_verbs, resource_of
from handlers.evidence.azure import ManagedCluster
from handlers.model import Clear, Finding, Judgement, NotApplicable, Target, Unavailable, Why
from handlers.question import Question, Word

CODE = "api-forbidden-rbac"


@diagnostic(codes=(CODE,), area="cluster", word=Word.RBAC)
def api_forbidden_rbac(
    target: Target,
    cluster: ManagedCluster,
    account: AskedAccount | Unavailable,
    access: AskedAccess | Unavailable | NotApplicable,
) -> Iterator[Judgement]:
    """A service account may not do what was asked about."""
    asked = target.about
    if asked is None or asked.word is not Word.RBAC:
        yield NotApplicable("nobody asked what a service account may do")
        return
    resource, verb = resource_of(asked.values[2]), asked.values[1]
    if resource is None or isinstance(access, NotApplicable):
        yield _unknown("resource", asked.values[2], near_resources(asked.values[2]))
    elif not is_verb(verb):
        yield _unknown("verb", verb, near_verbs(verb))
    elif isinstance(account, AskedAccount) and not account.exists and not account.truncated:
        yield _no_account(asked)
    elif isinstance(access, Unavailable):
        yield access
    elif access.allowed:
        yield Clear(f"{_sentence(asked, resource)}{_reason(access.reason)}")
    elif access.error:
        yield Unavailable(_said(asked, resource), Why.FAILED, f"the API server could not decide: {access.error}")
    else:
        yield _forbidden(cluster, asked, resource, access)


def _forbidden(cluster: ManagedCluster, asked: Question, resource: Resource, access: AskedAccess) -> Finding:
    user, where = user_of(asked.values[0]), namespace_asked(asked, resource)
    namespace, name = asked.first
    return Finding(
        code=CODE,
        subject=f"{namespace}/ServiceAccount/{name}",
        because=(
            f"{asked.values[0]} may not {asked.values[1]} {resource.name} {_place(where)}{_reason(access.reason)}",
            f"asked of the API server as {user}, in the groups {', '.join(groups_of(asked.values[0]))}",
        ),
        facts={
            "user": user,
            "account": asked.values[0],
            "service_account": name,
            "account_namespace": namespace,
            "verb": asked.values[1],
            "resource": resource.name,
            "api_group": resource.group,
            **({"namespace": where} if where else {"cluster_wide": "at the cluster scope"}),
            "cluster": cluster.name,
            "group": cluster.group,
            "subscription": cluster.subscription,
        },
    )


def _unknown(what: str, typed: str, near: list[str]) -> Unavailable:
    perhaps = f"; nearest are {', '.join(near)}" if near else ""
    custom = "" if what == "verb" else "; a kind of your own is written with its group: certificates.cert-manager.io"
    return Unavailable(f"the {what} {typed}", Why.ABSENT, f"Kubernetes has no {what} {typed}{perhaps}{custom}")


def _no_account(asked: Question) -> Unavailable:
    namespace, name = asked.first
    return Unavailable(
        f"service account {asked.values[0]}",
        Why.ABSENT,
        f"namespace {namespace} has no service account {name}, or does not exist; "
        f"`kubectl get serviceaccounts --namespace {namespace}` lists them",
    )


def _said(asked: Question, resource: Resource) -> str:
    return f"whether {_sentence(asked, resource)}"


def _sentence(asked: Question, resource: Resource) -> str:
    where = _place(namespace_asked(asked, resource))
    return f"{asked.values[0]} may {asked.values[1]} {resource.name} {where}"


def _place(namespace: str) -> str:
    return f"in namespace {namespace}" if namespace else "in the whole cluster"


def _reason(reason: str) -> str:
    return f" ({reason})" if reason else ""
