"""Does an admission webhook that does not answer refuse creations?"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from handlers.diagnose.workload_findings import WITHOUT_AZURE, harmed, named
from handlers.engine.declare import diagnostic
from handlers.evidence.workloads.symptoms import Sign, Symptom, Symptoms
from handlers.evidence.workloads.unwell import EmptyServices
from handlers.evidence.workloads.webhooks import VALIDATING, Webhook, Webhooks
from handlers.evidence.workloads.wiring.calls import Calls
from handlers.model import Finding, Judgement, NotApplicable, Unavailable
from runbooks.linear import compile_linear

CODE = "webhook-blocks"
_FAILED = compile_linear(r'failed calling webhook "(?P<name>[^"]+)": (?P<why>.+)')
_DENIED = compile_linear(r'admission webhook "(?P<name>[^"]+)" denied the request: ?(?P<why>.*)')


@diagnostic(
    codes=(CODE,),
    area="workloads",
    clear_without=WITHOUT_AZURE,
    clear_says="no admission webhook keeps pods from being created",
)
def webhook_blocks(
    symptoms: Symptoms,
    webhooks: Webhooks | Unavailable | NotApplicable,
    empty: EmptyServices | Unavailable,
    calls: Calls | Unavailable,
) -> Iterator[Judgement]:
    """An admission webhook does not answer, and so pods are not created."""
    by_name: dict[tuple[str, bool], list[tuple[Symptom, str]]] = defaultdict(list)
    for symptom in symptoms.of(Sign.REFUSED):
        for pattern, answered in ((_FAILED, False), (_DENIED, True)):
            found = pattern.search(symptom.message)
            if found:
                by_name[found["name"], answered].append((symptom, found["why"]))
                break
    known = webhooks.webhooks if isinstance(webhooks, Webhooks) else ()
    yield from named(
        _finding(name, answered, rows, _configured(name, rows[0][1], known), empty, calls)
        for (name, answered), rows in by_name.items()
    )


def _configured(name: str, why: str, known: tuple[Webhook, ...]) -> Webhook | None:
    """The webhook of this name. Several configurations may have one: then the one whose service was called."""
    named_so = [webhook for webhook in known if webhook.name == name]
    return max(named_so, key=lambda webhook: (_is_called(webhook, why), webhook.fails_closed), default=None)


def _is_called(webhook: Webhook, why: str) -> bool:
    namespace, _, service = webhook.service.partition("/")
    return f"//{service}.{namespace}.svc" in why if service else bool(webhook.url) and webhook.url in why


def _patch(webhook: Webhook) -> str:
    """Let creations pass without it; the test keeps another webhook from being opened, should they have moved."""
    at = f"/webhooks/{webhook.position}"
    steps = [
        {"op": "test", "path": f"{at}/name", "value": webhook.name},
        {"op": "replace", "path": f"{at}/failurePolicy", "value": "Ignore"},
    ]
    return json.dumps(steps, separators=(",", ":"))


def _finding(
    name: str,
    answered: bool,
    rows: list[tuple[Symptom, str]],
    webhook: Webhook | None,
    empty: EmptyServices | Unavailable,
    calls: Calls | Unavailable,
) -> Finding:
    symptom, why = rows[0]
    workload = symptom.owner.partition("/")[2]
    told = (
        f"webhook {name} denies the pods of {workload}: {why}" if answered else f"webhook {name} does not answer: {why}"
    )
    because = [told, *_behind(webhook, empty)]
    because.append(f"{len(rows)} workloads cannot create their pods, {workload} since {_since(symptom)}")
    affects = tuple(dict.fromkeys(item for row, _ in rows for item in harmed(row.owner, (), calls)))
    service = webhook.service if webhook else ""
    return Finding(
        code=CODE,
        subject=webhook.subject if webhook else f"{VALIDATING}/{name}",
        affects=affects,
        because=tuple(because),
        facts={
            "webhook": name,
            "configuration": webhook.configuration if webhook else "",
            "kind": webhook.kind if webhook else "",
            "patch": _patch(webhook) if webhook else "",
            "service": service.partition("/")[2],
            "service_namespace": service.partition("/")[0],
            "answered": answered,
            "namespace": symptom.namespace,
            "workload": workload,
            "message": why,
        },
        began=symptom.since,
    )


def _behind(webhook: Webhook | None, empty: EmptyServices | Unavailable) -> Iterator[str]:
    if webhook is None:
        return
    if webhook.service:
        nobody = isinstance(empty, EmptyServices) and tuple(webhook.service.split("/", 1)) in empty.empty
        yield f"it is answered by service {webhook.service}" + (", which has no ready endpoint" if nobody else "")
    if webhook.fails_closed:
        yield f"{webhook.subject}: failurePolicy Fail, so what it is not asked about is refused"


def _since(symptom: Symptom) -> str:
    return f"{symptom.since:%H:%M} UTC" if symptom.since else "some minutes"
