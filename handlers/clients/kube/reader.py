"""Reads a cluster's API server. Cheap to create: nothing is loaded or requested before the first call."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from handlers.clients.answers import Answer
from handlers.clients.arm.reader import ArmReader
from handlers.clients.call_log import CallLog
from handlers.clients.clock import Clock, LoopClock
from handlers.clients.closing import Closing
from handlers.clients.errors import ArmError, Garbled, NotARead
from handlers.clients.kube.access import OF_AZURE, KubeAccess
from handlers.clients.kube.listing import Folded, KubeListing
from handlers.clients.kube.paths import source_of, target_of
from handlers.clients.kube.reply import SOURCE, Reply, Way
from handlers.model import Target

if TYPE_CHECKING:
    from handlers.clients.arm.pipe import Transport
    from handlers.clients.kube.door.caller import Caller
    from handlers.clients.kube.door.doors import KubeSessions
    from handlers.clients.kube.inside.run_command import Audit
    from handlers.clients.kube.pagination import Turns
    from handlers.clients.kube.pod_port import PodPort
    from handlers.clients.recording.case import Recorder

T = TypeVar("T")
A = TypeVar("A")

PAGE = 500
MOST = 200_000
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""A list whose objects have nothing but their metadata: a CustomResourceDefinition alone may weigh a megabyte."""
DISCOVERY = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")
)
"""Every group that is served with its versions and kinds, in one answer (Kubernetes 1.27 and newer)."""
LONGEST_TEXT = 200_000
_REVIEWS = "/apis/authorization.k8s.io/v1"


class KubeReader(Closing):
    """All reads of one cluster's API server, for one check.

    With a `transport` (a recording's) it calls nothing else. Failures are raised as an ArmError; an unreachable server
    is found out once, and every later call fails at once.
    """

    def __init__(
        self,
        target: Target,
        arm: ArmReader,
        access: KubeAccess,
        *,
        recorder: Recorder | None = None,
        transport: Transport | None = None,
        doors: KubeSessions | None = None,
        on_run_command: Audit | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.target = target
        self.access = access
        self.calls = CallLog()
        self._arm = arm
        self._recorder = recorder
        self._transport = transport
        self._shared_doors = doors
        self._on_run_command = on_run_command
        self._clock = clock or LoopClock()

    async def close(self) -> None:
        if "_caller" in self.__dict__:
            await self._caller.way.close()
        if "_doors" in self.__dict__ and self._shared_doors is None:
            await self._doors.close()

    @property
    def reached(self) -> str:
        """How the API server was reached ("directly", "through run-command"); empty until then."""
        return self._caller.way.reached if "_caller" in self.__dict__ else ""

    @property
    def azure_calls(self) -> int:
        """How many Azure calls run-command took; the ARM reader's log does not count them."""
        return self._caller.way.azure_calls if "_caller" in self.__dict__ else 0

    @property
    def trouble(self) -> ArmError | None:
        """Why the API server could not be reached directly. `code`: dns, refused, connect-timeout, network or tls."""
        return self._caller.way.trouble if "_caller" in self.__dict__ else None

    async def has_context(self) -> bool:
        """Whether AKSBOT_KUBECONFIG has a context of this cluster's name: the only way into one that is not AKS."""
        from handlers.clients.kube.door.ways_in import has_context
        from handlers.clients.kube.recorded import context_kept, had_context

        if self._transport is not None:
            return await had_context(self._transport)
        asked = has_context(self.target, self.access)
        return await (context_kept(self._recorder, asked) if self._recorder else asked)

    async def list(
        self,
        path: str,
        keep: Callable[[Mapping[str, Any]], T | None],
        *,
        labels: str = "",
        fields: str = "",
        most: int = MOST,
        page: int = PAGE,
        accept: str = "",
    ) -> KubeListing[T]:
        """What `keep` makes of each object of a list (None: nothing). An expired list is read again from the start.
        `accept`: in which form, such as METADATA_ONLY.

        `keep` returns texts, numbers, times, tuples, lists, sets, dicts and dataclasses of those; all are redacted.
        """
        from handlers.clients.kube.pagination import Keeping, Paginator

        turner = Paginator(self._caller, path, self._turns, labels=labels, fields=fields, page=page, accept=accept)
        items, first, cut = await turner.all(lambda: Keeping(keep, most))
        return KubeListing(items, _source(turner.target, first), first.taken_at, cut)

    async def fold(
        self,
        path: str,
        start: Callable[[], A],
        add: Callable[[A, Mapping[str, Any]], None],
        *,
        labels: str = "",
        fields: str = "",
        page: int = PAGE,
    ) -> Folded[A]:
        """The same for a sum without rows: `add` puts each object into what `start` returned."""
        from handlers.clients.kube.pagination import Folding, Paginator

        turner = Paginator(self._caller, path, self._turns, labels=labels, fields=fields, page=page)
        value, first, cut = await turner.all(lambda: Folding(start(), add))
        return Folded(value, _source(turner.target, first), first.taken_at, cut)

    async def get(self, path: str, params: Mapping[str, str] | None = None) -> Answer:
        """One object, or whatever a GET of this path returns, redacted."""
        from handlers.clients.redact import redact

        target = target_of(path, params)
        body, reply = await self._caller.json("GET", target)
        return Answer(redact(body), _source(target, reply), reply.taken_at, reply.headers)

    async def text(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        also: Container[int] = (),
        most: int = LONGEST_TEXT,
    ) -> str:
        """A text (`/readyz?verbose`, a log), redacted. `also`: statuses whose text is an answer too."""
        from handlers.clients.redact import redact_off_loop

        target = target_of(path, params)
        reply = await self._caller.reply("GET", target, also=also)
        self._caller.record(lambda kept: kept.text(target, reply))
        # Cut far behind the part that is shown: half a secret would not be recognised and could be shown.
        text = reply.content[: 4 * most].decode("utf-8", errors="replace")
        return (await redact_off_loop(text))[:most]

    async def pod_port(self, namespace: str, pod: str, port: int) -> PodPort:
        """Whether anybody listens at a port of a pod, as the API server's proxy finds it: a GET on what serves there.

        The settings must allow it, and the bot's role (`deploy/kubernetes/pod-proxy.yaml`).
        """
        from handlers.clients.kube.pod_port import read_pod_port

        if not self.access.may_ask_pods(self.target.name, namespace):
            raise NotARead(f"AKSBOT_POD_PROXY does not name namespace {namespace} of {self.target.name}")
        target = f"/api/v1/namespaces/{namespace}/pods/{pod}:{port}/proxy/"
        return await read_pod_port(self._caller, target)

    async def may(self, verb: str, resource: str, group: str = "", namespace: str = "") -> bool:
        """Whether the bot itself may do this. `pods/log` names a subresource; no namespace means all of them."""
        spec = {"resourceAttributes": _wish(verb, resource, group, namespace)}
        return bool((await self._reviewed("SelfSubjectAccessReview", spec)).body["allowed"])

    async def review(
        self, user: str, groups: Sequence[str], verb: str, resource: str, group: str = "", namespace: str = ""
    ) -> Answer:
        """Whether somebody else may do this: the review's status (`allowed`, `reason`, `evaluationError`).

        It stores nothing. The bot's own role must let it create SubjectAccessReviews.
        """
        wish = _wish(verb, resource, group, namespace)
        return await self._reviewed(
            "SubjectAccessReview", {"user": user, "groups": list(groups), "resourceAttributes": wish}
        )

    async def _reviewed(self, kind: str, spec: Mapping[str, Any]) -> Answer:
        body = {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec}
        path = f"{_REVIEWS}/{kind.lower()}s"
        review, reply = await self._caller.json("POST", path, body)
        status = review.get("status") if isinstance(review, dict) else None
        if not isinstance(status, dict) or not isinstance(status.get("allowed"), bool):
            raise Garbled(f"{kind.lower()}s", f"{reply.status}, but the answer holds no review")
        return Answer(status, f"kubectl create --raw '{path}'", reply.taken_at, reply.headers)

    @cached_property
    def _turns(self) -> Turns:
        from handlers.clients.kube.pagination import Turns

        return Turns()

    @cached_property
    def _caller(self) -> Caller:
        from handlers.clients.kube.door.caller import TRIES, Caller
        from handlers.clients.kube.recorded import AnswerRecorder

        kept = AnswerRecorder(self._recorder) if self._recorder else None
        # A recording gives the same answer however often it is asked.
        tries = TRIES if self._transport is None else 1
        return Caller(self._way(), self.calls, self._clock, kept, tries=tries)

    def _way(self) -> Way:
        if self._transport is not None:
            from handlers.clients.kube.recorded import RecordedWay

            return RecordedWay(self._transport)
        from handlers.clients.kube.door.direct import DirectWay

        direct = DirectWay(self.target, self._doors)
        if not (self.target.id.is_a(OF_AZURE) and self.access.may_run_commands(self.target.name)):
            return direct
        from handlers.clients.kube.inside.run_command_fallback import RunCommandFallback

        return RunCommandFallback.beside(direct, self.target, self._doors, self._on_run_command, self._clock)

    @cached_property
    def _doors(self) -> KubeSessions:
        from handlers.clients.kube.door.doors import KubeSessions

        return self._shared_doors or KubeSessions(self._arm, self.access)


def _wish(verb: str, resource: str, group: str, namespace: str) -> dict[str, str]:
    """What a review asks about. `pods/log` names a subresource; no namespace means all of them."""
    kind, _, part = resource.partition("/")
    wish = {"verb": verb, "resource": kind, "subresource": part, "group": group, "namespace": namespace}
    return {name: text for name, text in wish.items() if text}


def _source(target: str, reply: Reply) -> str:
    return reply.headers.get(SOURCE) or source_of(target)
