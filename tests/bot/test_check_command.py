"""`aksbot check` and `replay`, as a subprocess against a local Azure."""

from __future__ import annotations

import asyncio
import copy
import json
import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandbox.arm.server import ArmServer
from sandbox.scenario import Scenario
from tests.bot.conftest import PROGRAM, Ran, Started, clean_environment

NO_SUCH_PORT = "https://127.0.0.1:1"


@pytest.fixture
async def azure() -> AsyncIterator[ArmServer]:
    """A fleet of which one cluster has a problem."""
    async with ArmServer(Scenario.load("quota-blocks-upgrade").world) as arm:
        yield arm


def three_parts(ran: Ran, code: int) -> tuple[str, str, str]:
    """What a command that could not do it said; nothing of it may be missing, and no traceback may show."""
    assert ran.code == code, ran
    assert ran.out == ""
    assert "Traceback" not in ran.err
    what, _, rest = ran.err.partition("\n  why: ")
    why, _, do = rest.partition("\n  do: ")
    assert what
    assert why
    assert do
    return tuple(" ".join(part.split()) for part in (what, why, do))  # type: ignore[return-value]


async def test_a_problem_is_found_with_its_cause_first(azure: ArmServer, started: Started) -> None:
    ran = await started("check", "prod-weu", environment=azure.environment("reader"))
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0].startswith("prod-weu cannot add nodes: vCPU quota standardDSv5Family is full")
    assert "→ Ask for 204 (now 200)" in lines[1:3]
    assert "UNHEALTHY · 1 cause, 3 consequences" in lines[2:4]
    assert ran.err == ""


async def test_a_healthy_cluster_is_clear(azure: ArmServer, started: Started) -> None:
    ran = await started("check", "staging-neu", environment=azure.environment("reader"))
    assert ran.code == 0
    assert re.match(
        r"staging-neu: HEALTHY in what was asked · \d+ checks found nothing; \d+ kinds of problem have no check\n",
        ran.out,
    )
    assert re.search(r"^No check for: .*\+\d+ more in --output json$", ran.out, re.MULTILINE)


async def test_what_may_not_be_read_makes_it_inconclusive_and_is_named(azure: ArmServer, started: Started) -> None:
    azure.deny("reader", "Microsoft.Authorization/locks/read")
    ran = await started("check", "staging-neu", environment=azure.environment("reader"))
    assert ran.code == 2
    assert "grant Microsoft.Authorization/locks/read" in ran.out


async def test_json_goes_to_programs(azure: ArmServer, started: Started) -> None:
    ran = await started("check", "prod-weu", "--output", "json", environment=azure.environment("reader"))
    whole = json.loads(ran.out)
    assert (ran.code, whole["state"], whole["findings"][0]["code"]) == (1, "found", "quota-exceeded")
    assert whole["calls"]["arm"] == len(azure.calls)
    scope = whole["scope"]
    assert (whole["kind"], scope["narrowed_to"]) == ("aks", None)
    applied = {code for one in whole["checks"] if one["outcome"] != "not-applicable" for code in one["codes"]}
    assert set(scope["codes"]) == applied
    assert {"cluster", "network"} <= set(scope["areas"])
    assert "vnet-blocked" in {*scope["cannot_ask"], *scope["codes"]}
    assert "support-packet" not in scope["cannot_ask"]


async def test_an_area_of_a_broken_cluster_is_clear_of_itself_only(azure: ArmServer, started: Started) -> None:
    words = ("check", "prod-weu", "--area", "network")
    ran = await started(*words, environment=azure.environment("reader"))
    first, *others = ran.out.splitlines()
    assert ran.code == 0
    assert re.fullmatch(
        r"prod-weu: HEALTHY in network only · \d+ checks? found nothing; the rest was not looked at", first
    )
    assert "Not looked at: cluster, compute, governance, nodes, workloads" in others
    whole = json.loads((await started(*words, "--output", "json", environment=azure.environment("reader"))).out)
    assert whole["state"] == "clear"
    assert (whole["scope"]["areas"], whole["scope"]["narrowed_to"]) == (["network"], "network")


async def test_only_one_question_can_be_asked(azure: ArmServer, started: Started) -> None:
    words = ("check", "prod-weu", "--only", "resource-lock", "--output", "json")
    whole = json.loads((await started(*words, environment=azure.environment("reader"))).out)
    assert [one["codes"] for one in whole["checks"]] == [["resource-lock"]]


@pytest.mark.parametrize(("option", "given"), [("--only", "subnet-ful"), ("--area", "nonsense")])
async def test_an_unknown_scope_is_refused(azure: ArmServer, started: Started, option: str, given: str) -> None:
    ran = await started("check", "prod-weu", option, given, environment=azure.environment("reader"))
    _, why, _ = three_parts(ran, 64)
    assert given in why
    assert not azure.log


async def test_an_unknown_cluster_gets_the_nearest_names(azure: ArmServer, started: Started) -> None:
    ran = await started("check", "prod-wue", environment=azure.environment("reader"))
    what, _, do = three_parts(ran, 64)
    assert "prod-wue" in what
    assert "prod-weu" in do


GONE = "/subscriptions/{0}/resourceGroups/rg-prod-weu/providers/Microsoft.ContainerService/managedClusters/prod-wue"
PORTAL = "https://portal.azure.com/#@contoso.com/resource{0}/overview"


def cluster_id(azure: ArmServer, name: str = "prod-weu") -> str:
    bodies = azure.world.resources.values()
    return str(next(body["id"] for body in bodies if body["id"].endswith(f"/managedClusters/{name}")))


@pytest.mark.parametrize("form", ["{0}", PORTAL])
async def test_an_id_of_which_azure_knows_nothing_is_told_in_three_parts(
    azure: ArmServer, started: Started, form: str
) -> None:
    gone = GONE.format(cluster_id(azure).split("/")[2])
    ran = await started("check", form.format(gone), environment=azure.environment("reader"))
    what, why, do = three_parts(ran, 64)
    assert "prod-wue" in what
    assert "NotFound" in why
    assert "aksbot check prod-wue" in do
    assert len(azure.calls) == 1


async def test_an_id_whose_cluster_may_not_be_read_is_checked_all_the_same(azure: ArmServer, started: Started) -> None:
    azure.deny("reader", "Microsoft.ContainerService/managedClusters/read")
    ran = await started("check", cluster_id(azure), environment=azure.environment("reader"))
    assert ran.code == 2, ran.err
    assert "grant Microsoft.ContainerService/managedClusters/read" in ran.out


async def test_an_id_is_read_no_more_often_than_a_name(azure: ArmServer, started: Started) -> None:
    words = ("check", cluster_id(azure), "--output", "json")
    whole = json.loads((await started(*words, environment=azure.environment("reader"))).out)
    clusters = [one for one in azure.calls if one.path.lower() == cluster_id(azure).lower()]
    assert len(clusters) == 1
    assert whole["calls"]["arm"] == len(azure.calls)


@pytest.mark.parametrize(
    ("name", "kind", "cannot"),
    [
        ("arc-bridge-hq", "Arc resource bridge", "arc-kva-timeout"),
        ("edge-nexus-01", "Operator Nexus Kubernetes cluster", "default-cni-network-missing"),
    ],
)
async def test_the_answer_says_which_kind_was_looked_at_and_what_cannot_be_asked_of_it(
    azure: ArmServer, started: Started, name: str, kind: str, cannot: str
) -> None:
    ran = await started("check", name, environment=azure.environment("reader"))
    assert ran.code == 0, ran.err
    assert ran.out.startswith(f"{name}: HEALTHY in what was asked · {kind}, ")
    whole = json.loads((await started("check", name, "--output", "json", environment=azure.environment("reader"))).out)
    assert whole["looked_at"] == kind
    assert cannot in whole["scope"]["cannot_ask"]
    assert not set(whole["scope"]["codes"]) & set(whole["scope"]["cannot_ask"])


async def test_an_ambiguous_name_gets_the_ids_to_choose_from(started: Started) -> None:
    world = Scenario.load("healthy-fleet").world
    mine = next(body for body in world.resources.values() if body["id"].endswith("/managedClusters/prod-weu"))
    twin = copy.deepcopy(mine)
    twin["id"] = mine["id"].replace("/rg-prod-weu/", "/rg-prod-eus2/")
    assert twin["id"] != mine["id"]
    world.put(twin)
    async with ArmServer(world) as azure:
        ran = await started("check", "prod-weu", environment=azure.environment("reader"))
    _, why, do = three_parts(ran, 64)
    assert "2 clusters" in why
    assert mine["id"] in do
    assert twin["id"] in do


@pytest.mark.parametrize(
    "name", ["", "   ", "prod weu; rm -rf /", "<!channel> *x*", "' or 1==1 //", "x" * 10_000, "\x1b[2J"]
)
async def test_what_cannot_be_a_name_is_refused_without_asking_azure(
    azure: ArmServer, started: Started, name: str
) -> None:
    ran = await started("check", "--", name, environment=azure.environment("reader"))
    three_parts(ran, 64)
    assert "\x1b" not in ran.err
    assert len(ran.err) < 2_000
    assert not azure.log


@pytest.mark.parametrize(
    "change", [{"AZURE_CLIENT_SECRET": "wrong"}, {"AZURE_CLIENT_ID": "0" * 8 + "-0000-0000-0000-" + "0" * 12}]
)
async def test_wrong_credentials_are_told_as_such(azure: ArmServer, started: Started, change: dict[str, str]) -> None:
    environment = azure.environment("reader") | change
    what, why, do = three_parts(await started("check", "prod-weu", environment=environment), 69)
    assert "prod-weu" in what
    assert "AADSTS" in why
    assert "AZURE_CLIENT_SECRET" in do


async def test_without_any_credential_it_says_where_one_is_looked_for(
    azure: ArmServer, started: Started, tmp_path: Path
) -> None:
    environment = {key: value for key, value in azure.environment("reader").items() if not key.startswith("AZURE_")}
    environment |= {"PATH": str(tmp_path), "AZURE_CONFIG_DIR": str(tmp_path)}
    _, why, do = three_parts(await started("check", "prod-weu", environment=environment), 69)
    assert "credential" in why.lower()
    assert "az login" in do


async def test_a_token_that_is_refused_is_told_as_such(started: Started) -> None:
    async with ArmServer(Scenario.load("healthy-fleet").world, token_lifetime_s=-1) as expired:
        environment = expired.environment("reader")
        _, why, do = three_parts(await started("check", "prod-weu", environment=environment), 69)
    assert "401" in why or "expired" in why.lower()
    assert "credential" in do


async def test_somebody_who_may_read_nothing_is_told_what_to_grant(azure: ArmServer, started: Started) -> None:
    _, _, do = three_parts(await started("check", "prod-weu", environment=azure.environment("nobody")), 69)
    assert "grant" in do


async def test_without_network_it_says_so_soon(azure: ArmServer, started: Started) -> None:
    gone = {"AKSBOT_AZURE_RESOURCE_MANAGER": NO_SUCH_PORT, "AKSBOT_AZURE_AUTHORITY": NO_SUCH_PORT}
    environment = azure.environment("reader") | gone
    _, why, do = three_parts(await started("check", "prod-weu", environment=environment), 69)
    assert "127.0.0.1" in why
    assert "network" in do


async def test_an_unknown_certificate_is_told_with_the_setting_for_it(azure: ArmServer, started: Started) -> None:
    environment = {key: value for key, value in azure.environment("reader").items() if key != "AKSBOT_CA_BUNDLE"}
    _, _, do = three_parts(await started("check", "prod-weu", environment=environment), 69)
    assert "AKSBOT_CA_BUNDLE" in do


async def test_an_error_is_an_object_where_json_was_asked_for(azure: ArmServer, started: Started) -> None:
    ran = await started("check", "no-such", "--output", "json", environment=azure.environment("reader"))
    assert ran.code == 64
    assert json.loads(ran.out)["error"].keys() == {"what", "why", "do"}


async def test_a_recording_gives_the_same_diagnosis_offline(azure: ArmServer, started: Started, tmp_path: Path) -> None:
    environment = azure.environment("reader")
    live = await started("check", "prod-weu", "--record", "case.zip", "--output", "json", environment=environment)
    asked = len(azure.log)
    again = await started("replay", "case.zip", "--output", "json")
    assert (live.code, again.code) == (1, 1)
    assert "case.zip" in live.err
    assert len(azure.log) == asked
    one, two = json.loads(live.out), json.loads(again.out)
    assert two["recorded_at"]
    assert two["findings"] == one["findings"]
    assert [(check["id"], check["outcome"]) for check in two["checks"]] == [
        (check["id"], check["outcome"]) for check in one["checks"]
    ]


async def test_a_recording_that_cannot_be_written_is_refused_before_the_check(
    azure: ArmServer, started: Started
) -> None:
    ran = await started("check", "prod-weu", "--record", "no/case.zip", environment=azure.environment("reader"))
    what, _, _ = three_parts(ran, 64)
    assert "no/case.zip" in what
    assert not azure.log


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 half a zip", b"\x00\xff"])
async def test_what_is_no_recording_is_refused(started: Started, tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "case.zip").write_bytes(content)
    what, _, _ = three_parts(await started("replay", "case.zip"), 64)
    assert "case.zip" in what


async def test_ctrl_c_ends_a_check_with_130_and_says_nothing() -> None:
    connected = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        while await reader.read(4096):
            pass
        writer.close()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        there = {"AKSBOT_AZURE_RESOURCE_MANAGER": url, "AKSBOT_AZURE_AUTHORITY": url}
        who = {"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_CLIENT_SECRET": "s"}
        one = await asyncio.create_subprocess_exec(
            *PROGRAM,
            "check",
            "prod-weu",
            env=clean_environment() | there | who,
            # A runner of tests in parallel ignores Ctrl-C, and its children would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(20):
            await connected.wait()
            one.send_signal(signal.SIGINT)
            out, err = await one.communicate()
    assert (one.returncode, out, err) == (130, b"", b"")


async def lines_of(stream: asyncio.StreamReader, until: str) -> list[str]:
    """The lines up to the one that begins or contains this."""
    read: list[str] = []
    while not read or until not in read[-1]:
        line = await stream.readline()
        assert line, read
        read.append(line.decode())
    return read


async def test_a_watch_checks_again_until_ctrl_c_and_repeats_nothing_that_did_not_change(azure: ArmServer) -> None:
    watch = await asyncio.create_subprocess_exec(
        *PROGRAM,
        *("check", "prod-weu", "--only", "resource-lock", "--watch", "--every", "1"),
        env=clean_environment() | azure.environment("reader"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert watch.stdout is not None
    try:
        async with asyncio.timeout(120):
            first = await lines_of(watch.stdout, " unchanged: ")
            azure.deny("reader", "Microsoft.Authorization/locks/read")
            second = await lines_of(watch.stdout, "grant Microsoft.Authorization/locks/read")
    finally:
        watch.send_signal(signal.SIGINT)
        _, err = await watch.communicate()
    assert (watch.returncode, err) == (130, b"")
    assert sum("checked nothing but resource-lock" in line or line.startswith("prod-weu: ") for line in first) == 1
    assert re.match(r"\d\d:\d\d:\d\d UTC unchanged: prod-weu: ", first[-1])
    assert any(line.startswith("prod-weu: ") for line in second), "what is new is printed in full"


async def test_a_watch_cannot_be_recorded(started: Started, tmp_path: Path) -> None:
    what, _, _ = three_parts(await started("check", "x", "--watch", "--record", str(tmp_path / "a.zip")), 64)
    assert what == "cannot record while watching"
