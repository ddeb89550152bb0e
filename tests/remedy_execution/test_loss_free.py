"""PUT bodies contain everything that was read, including unknown fields, except fields that only Azure sets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from azure.mgmt.containerservice import models
from azure.mgmt.containerservice.aio import ContainerServiceClient
from azure.mgmt.containerservice.models import AgentPool, ManagedCluster
from hypothesis import given
from hypothesis import strategies as st

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.kube.access import KubeAccess
from handlers.clients.kube.reader import KubeReader
from handlers.model import Target
from handlers.remedy.acts.act import WriterClients
from handlers.remedy.acts.follow_arm import AKS_API
from handlers.remedy.acts.read_only import CLUSTER, POOL, NotAsRead, to_send
from handlers.remedy.execution import Execution, Outcome
from handlers.remedy.executor import Executor
from handlers.remedy.plan import Verb
from handlers.resource_id import ResourceId
from tests.clients.azure import LocalAzure, PaperCredential, says, text_of
from tests.recorded import DATA, needed
from tests.remedy_execution.stage import Body, ListLedger, a_plan, step


def wire_bodies() -> Iterator[tuple[str, Body, frozenset[str]]]:
    """Every cluster and pool among the recorded answers, in lists too."""
    for file in sorted(DATA.glob("*.json")):
        body = json.loads(file.read_text())["body"]
        rows: list[Any] = body["value"] if isinstance(body, dict) and isinstance(body.get("value"), list) else [body]
        for number, row in enumerate(rows):
            kind = str(row.get("type", "")).lower() if isinstance(row, dict) else ""
            if kind.startswith("microsoft.containerservice/managedclusters") and "properties" in row:
                is_pool = kind.endswith("/agentpools")
                if is_pool or kind.endswith("/managedclusters"):
                    yield f"{file.stem}-{number}", row, POOL if is_pool else CLUSTER


RECORDED = list(wire_bodies())


def paths(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every leaf with its way there, list places and keys by name; an empty thing is a leaf."""
    if isinstance(value, dict) and value:
        for key, one in value.items():
            yield from paths(one, (*path, f".{key}"))
    elif isinstance(value, list) and value:
        for number, one in enumerate(value):
            yield from paths(one, (*path, f"[{number}]"))
    else:
        yield path, value


def is_below(path: tuple[str, ...], read_only: frozenset[str]) -> bool:
    """Whether a leaf is, or lies in, one of the fields that only Azure sets: told by patterns, not by a walk."""
    return any(_fits(path, pattern) for pattern in read_only)


def _fits(path: tuple[str, ...], pattern: str) -> bool:
    parts = pattern.replace("[]", ".[]").replace("{}", ".{}").split(".")
    if len(path) < len(parts):
        return False
    return all(_same(step, part) for step, part in zip(path, parts, strict=False))


def _same(step: str, part: str) -> bool:
    if part == "[]":
        return step.startswith("[")
    return step.startswith(".") and part in ("{}", step[1:])


def held(body: Any, read_only: frozenset[str]) -> dict[tuple[str, ...], str]:
    return {path: json.dumps(leaf) for path, leaf in paths(body) if not is_below(path, read_only)}


def assert_loss_free(read: Any, read_only: frozenset[str]) -> None:
    before = json.dumps(read)
    sent = json.loads(json.dumps(to_send(read, read_only)))
    assert json.dumps(read) == before
    assert_as_read(read, sent, read_only)


def assert_as_read(read: Any, sent: Any, read_only: frozenset[str]) -> None:
    wanted, there = held(read, read_only), {path: json.dumps(leaf) for path, leaf in paths(sent)}
    assert {path: there.get(path) for path in wanted} == wanted
    # What held nothing but such fields is still there, empty.
    emptied = {path for path in there.keys() - wanted.keys() if there[path] in ("{}", "[]")}
    assert there.keys() - emptied == wanted.keys()
    assert not [path for path in there if is_below(path, read_only)]


@needed
def test_there_are_recorded_bodies_of_both_kinds() -> None:
    assert {id(read_only) for _, _, read_only in RECORDED} == {id(POOL), id(CLUSTER)}
    assert len(RECORDED) >= 20


@pytest.mark.parametrize(("body", "read_only"), [one[1:] for one in RECORDED], ids=[one[0] for one in RECORDED])
def test_a_recorded_body_goes_back_as_it_was_read(body: Body, read_only: frozenset[str]) -> None:
    assert_loss_free(body, read_only)


NAMES = st.sampled_from(
    sorted({part for path in CLUSTER | POOL for part in path.replace("[]", "").replace("{}", "").split(".")})
)
KEYS = st.one_of(NAMES, st.text(min_size=1, max_size=12))
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.just("hunter2 adminPassword=hunter2"),
)
TREES = st.recursive(
    LEAVES,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(KEYS, below, max_size=4)),
    max_leaves=25,
)
ADDON = st.dictionaries(st.sampled_from(["identity", "enabled", "config", "future"]), TREES, max_size=4)
PROFILE = st.fixed_dictionaries(
    {"name": st.sampled_from(["apps", "system"])},
    optional={
        "eTag": st.text(max_size=5),
        "provisioningState": st.text(max_size=5),
        "tags": TREES,
        "future": TREES,
        "status": TREES,
        "localDNSProfile": TREES,
        "windowsProfile": TREES,
    },
)
BODIES = st.fixed_dictionaries(
    {
        "properties": st.fixed_dictionaries(
            {},
            optional={
                "addonProfiles": st.dictionaries(KEYS, ADDON, max_size=3),
                "agentPoolProfiles": st.lists(PROFILE, max_size=3),
                "networkProfile": TREES,
                "podIdentityProfile": TREES,
                "powerState": TREES,
                "status": TREES,
                "future": TREES,
            },
        )
    },
    optional={"identity": TREES, "tags": TREES, "zones": TREES, "name": LEAVES, "eTag": LEAVES},
)  # fmt: skip


@given(BODIES, st.sampled_from([POOL, CLUSTER]))
def test_any_body_goes_back_as_it_was_read(body: Body, read_only: frozenset[str]) -> None:
    assert_loss_free(body, read_only)


@given(BODIES, TREES)
def test_a_body_that_holds_a_redaction_mark_is_refused_wherever_it_stands(body: Body, tree: Any) -> None:
    marked = {**body, "properties": {**body["properties"], "future": [tree, {"key": "x [redacted:password] y"}]}}
    with pytest.raises(NotAsRead, match="redaction mark"):
        to_send(marked, CLUSTER)


def test_a_number_that_json_cannot_carry_is_refused() -> None:
    with pytest.raises(NotAsRead, match=r"properties\.future"):
        to_send({"properties": {"future": float("nan")}}, POOL)


@pytest.mark.parametrize(("body", "read_only"), [one[1:] for one in RECORDED], ids=[one[0] for one in RECORDED])
async def test_a_recorded_body_goes_over_the_wire_as_it_was_read(
    wire: LocalAzure, body: Body, read_only: frozenset[str]
) -> None:
    odd = {"future": {"adminPassword": "hunter2hunter2", "none": None, "list": [None, 1.5]}, "mail": "a@example.com"}
    changed = {**body["properties"], **odd, "provisioningState": "Failed", "eTag": "1"}
    if "agentPoolProfiles" in changed:
        # Answers of older versions have none, and without one nothing is sent.
        changed["agentPoolProfiles"] = [{"eTag": "p1", **one} for one in changed["agentPoolProfiles"]]
    await assert_sent_as_read(wire, {**body, "eTag": "1", "properties": changed}, read_only)


async def assert_sent_as_read(azure: LocalAzure, body: Body, read_only: frozenset[str]) -> None:
    """Through the executor and over a socket; the witness is what the server received."""
    profiles = body["properties"].get("agentPoolProfiles") or ()
    pools = [
        {"id": f"{body['id']}/agentPools/{one['name']}", "name": one["name"], "properties": one} for one in profiles
    ]
    quiet = [{**one, "properties": {**one["properties"], "provisioningState": "Succeeded"}} for one in pools]
    azure.reply(body["id"], says(body), says({"id": body["id"], "properties": {"provisioningState": "Succeeded"}}))
    azure.reply(f"{body['id']}/agentPools", says({"value": quiet}))
    verb = Verb.PUT_POOL_AS_READ if read_only is POOL else Verb.PUT_CLUSTER_AS_READ
    cluster = body["id"].rsplit("/", 2)[0] if read_only is POOL else body["id"]
    plan = a_plan(step(verb, body["id"], etag="1", pools={}), cluster=cluster)
    access = AzureAccess(resource_manager=azure.url, authority=azure.url, ca_bundle=azure.ca_file, identity={})
    ledger = ListLedger()
    here = Execution.begin("fix-1", plan)
    async with (
        ArmWriter(access, credential=PaperCredential()) as writer,
        ArmReader(access, credential=PaperCredential()) as reader,
        KubeReader(Target(ResourceId.parse(body["id"])), reader, KubeAccess()) as nodes,
    ):
        executor = Executor(WriterClients(writer, reader, nodes, nodes))  # type: ignore[arg-type]
        while not here.ended:
            here = await executor.advance(here, ledger)
    assert (here.outcome, here.why) == (Outcome.DONE, "")
    (put,) = [one for one in azure.asked if one.method != "GET"]
    assert put.headers["If-Match"] == "1"
    assert_as_read(body, text_of(put), read_only)
    assert "hunter2" not in "".join(ledger.saved)


@pytest.mark.parametrize(("model", "ours"), [(AgentPool, POOL), (ManagedCluster, CLUSTER)])
def test_what_only_azure_sets_is_what_the_library_says(model: Any, ours: frozenset[str]) -> None:
    assert set(read_only_of(model, "", (model,))) == ours


async def test_bodies_are_read_and_sent_in_the_version_that_the_library_speaks() -> None:
    async with ContainerServiceClient(PaperCredential(), "00000000-0000-0000-0000-0000000000a1") as client:
        assert client._config.api_version == AKS_API


def read_only_of(model: Any, path: str, above: tuple[Any, ...]) -> Iterator[str]:
    model()  # the library works its fields out with the first instance
    hints: dict[str, Any] = {}
    for base in reversed(model.__mro__):
        hints.update(getattr(base, "__annotations__", {}))
    for name, one in model._attr_to_rest_field.items():
        here = f"{path}.{one._rest_name}" if path else one._rest_name
        if one._visibility == ["read"]:
            yield here
            continue
        hint = str(hints.get(name, ""))
        below = next((kind for kind in _models(hint) if kind not in above), None)
        if below is not None:
            many = "[]" if "ist[" in hint else "{}" if "ict[" in hint else ""
            yield from read_only_of(below, here + many, (*above, below))


def _models(hint: str) -> Iterator[Any]:
    for word in re.findall(r"\w+", hint):
        kind = getattr(models, word, None)
        if isinstance(kind, type) and hasattr(kind, "_deserialize"):
            yield kind
