"""In a cloud that lags behind, an available api-version is used; a missing type is an error, never an empty list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from handlers.clients.access import AzureAccess
from handlers.clients.arm.reader import ArmReader
from handlers.clients.arm.writer import ArmWriter
from handlers.clients.errors import NotFound, Refused, VersionNotOffered
from handlers.clients.recording.case import Recorder
from handlers.clients.versions import newest_not_above, type_of, with_version
from handlers.fleet.names import fleet
from handlers.model import Why
from handlers.problem import Problem
from handlers.resource_id import ResourceId
from tests.clients.azure import Handler, LocalAzure, PaperCredential, QuickClock, refuses, says

SUB = "00000000-0000-0000-0000-0000000000a1"
ABOVE = f"/subscriptions/{SUB}"
GROUP = f"{ABOVE}/resourceGroups/rg-prod"
CLUSTER = ResourceId.parse(f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/prod-weu")
OTHER = f"{GROUP}/providers/Microsoft.ContainerService/managedClusters/test-weu"
NETS = f"{GROUP}/providers/Microsoft.Network/virtualNetworks"
LOCKS = f"{GROUP}/providers/Microsoft.Authorization/locks"
OLD = ("2023-02-01", "2024-05-01", "2024-03-02-preview", "2022-07-01", "2027-01-01")


def no_provider(kind: str, offered: Sequence[str], version: str = "2026-08-01") -> Handler:
    return refuses(
        400,
        "NoRegisteredProviderFound",
        f"No registered resource provider found for location 'usgovvirginia' and API version '{version}' for type "
        f"'{kind}'. The supported api-versions are '{', '.join(offered)}'. The supported locations are 'usgovtexas'.",
    )


def no_type(kind: str, namespace: str, offered: Sequence[str] = ()) -> Handler:
    others = f" The supported api-versions are '{','.join(offered)}'." if offered else ""
    said = f"The resource type '{kind}' could not be found in the namespace '{namespace}' for api version '2020-05-01'."
    return refuses(404, "InvalidResourceType", said + others)


def invalid(offered: Sequence[str]) -> Handler:
    said = f"The api-version '2026-08-01' is invalid. The supported versions are '{','.join(offered)}'."
    return refuses(400, "InvalidApiVersionParameter", said)


def asked_in(azure: LocalAzure) -> list[str]:
    return [parse_qs(urlsplit(one.raw_path).query)["api-version"][0] for one in azure.asked]


@pytest.mark.parametrize(
    ("wanted", "offered", "taken"),
    [
        ("2026-08-01", OLD, "2024-05-01"),
        ("2024-04-01", OLD, "2023-02-01"),
        ("2024-04-01-preview", OLD, "2024-03-02-preview"),
        ("2024-05-01-preview", OLD, "2024-05-01"),
        ("2024-04-01", ("2024-03-02-preview", "2025-01-01"), "2024-03-02-preview"),
        ("2024-05-01", ("2024-05-01-preview",), "2024-05-01-preview"),
        ("2024-05-01", ("2024-06-01", "2024-06-01-preview"), None),
        ("2024-05-01", (), None),
    ],
)
def test_the_newest_stable_version_that_is_not_newer_is_taken(
    wanted: str, offered: Sequence[str], taken: str | None
) -> None:
    assert newest_not_above(wanted, offered) == taken


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (str(CLUSTER), "microsoft.containerservice/managedclusters"),
        (f"{CLUSTER}/agentPools", "microsoft.containerservice/managedclusters/agentpools"),
        (f"{CLUSTER}/providers/Microsoft.Authorization/locks/keep", "microsoft.authorization/locks"),
        (f"{ABOVE}/providers/Microsoft.Compute/locations/westus/usages", "microsoft.compute/locations/usages"),
        (f"{ABOVE}/providers/Microsoft.Compute", "subscriptions/providers"),
        (f"{GROUP}/", "subscriptions/resourcegroups"),
        ("/subscriptions", "subscriptions"),
    ],
)
def test_the_type_is_that_of_the_last_provider(path: str, kind: str) -> None:
    assert type_of(f"https://management.azure.com{path}?api-version=2020-01-01") == kind


def test_only_the_version_of_an_address_changes() -> None:
    link = "https://x/p?%24skipToken=a%2fb&api-version=2020-01-01&skipToken=a%2fb"
    assert with_version(link, "2019-01-01") == link.replace("2020", "2019")


async def test_a_type_is_asked_for_in_what_its_cloud_offers_and_the_source_says_so(
    azure: LocalAzure, arm: ArmReader
) -> None:
    azure.reply(str(CLUSTER), no_provider("managedClusters", OLD), says({"id": str(CLUSTER)}))
    answer = await arm.managed_cluster(CLUSTER)
    wanted, taken = asked_in(azure)
    assert taken == "2024-05-01"
    assert answer.body == {"id": str(CLUSTER)}
    assert answer.source == f"GET {CLUSTER}?api-version=2024-05-01 (this cloud does not offer {wanted})"


async def test_the_twin_that_offers_the_version_is_asked_once(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(NETS, says({"value": []}))
    listing = await arm.list(NETS, "2024-05-01")
    assert (listing.source, asked_in(azure)) == (f"GET {NETS}?api-version=2024-05-01", ["2024-05-01"])


async def test_what_was_heard_of_a_type_is_remembered_for_others_of_it_only(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(str(CLUSTER), no_provider("managedClusters", OLD), says({"id": str(CLUSTER)}))
    azure.reply(OTHER, says({"id": OTHER}))
    azure.reply(NETS, says({"value": []}))
    await arm.get(str(CLUSTER), "2026-08-01")
    other = await arm.get(OTHER, "2026-08-01")
    await arm.list(NETS, "2026-08-01")
    await arm.get(OTHER, "2023-02-01")
    assert asked_in(azure) == ["2026-08-01", "2024-05-01", "2024-05-01", "2026-08-01", "2023-02-01"]
    assert "does not offer 2026-08-01" in other.source


async def test_another_reader_of_the_same_azure_knows_it_too(
    azure: LocalAzure, arm: ArmReader, credential: PaperCredential, clock: QuickClock
) -> None:
    azure.reply(str(CLUSTER), no_provider("managedClusters", OLD), says({"id": str(CLUSTER)}))
    await arm.get(str(CLUSTER), "2026-08-01")
    async with ArmReader(arm.access.as_writer(), credential=credential, clock=clock, fresh_for_s=0) as another:
        await another.get(str(CLUSTER), "2026-08-01")
    assert asked_in(azure) == ["2026-08-01", "2024-05-01", "2024-05-01"]


async def test_a_list_is_turned_to_its_end_in_the_older_version(azure: LocalAzure, arm: ArmReader) -> None:
    pools = f"{CLUSTER}/agentPools"
    link = f"{azure.url}{pools}?api-version=2024-05-01&%24skipToken=2"
    azure.reply(
        pools,
        no_provider("managedClusters/agentPools", OLD),
        says({"value": [{"name": "one"}], "nextLink": link}),
        says({"value": [{"name": "two"}]}),
    )
    listing = await arm.agent_pools(CLUSTER)
    assert [one["name"] for one in listing.items] == ["one", "two"]
    assert asked_in(azure)[1:] == ["2024-05-01", "2024-05-01"]
    assert "skipToken=2" in azure.asked[-1].raw_path


async def test_a_type_without_a_location_says_it_as_a_404(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(LOCKS, no_type("locks", "Microsoft.Authorization", ["2017-04-01", "2016-09-01"]), says({"value": []}))
    await arm.list(LOCKS, "2020-05-01")
    assert asked_in(azure) == ["2020-05-01", "2017-04-01"]


async def test_a_type_that_does_not_exist_at_all_stays_a_404(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(LOCKS, no_type("locks", "Microsoft.Authorization"))
    with pytest.raises(NotFound):
        await arm.list(LOCKS, "2020-05-01")
    assert len(azure.asked) == 1


async def test_the_front_doors_own_versions_lead_to_those_of_the_type_and_are_not_kept_for_it(
    azure: LocalAzure, arm: ArmReader
) -> None:
    azure.reply(str(CLUSTER), invalid(("2025-04-01", "2014-04")), no_provider("managedClusters", OLD), says({}))
    azure.reply(OTHER, says({}))
    await arm.get(str(CLUSTER), "2026-08-01")
    await arm.get(OTHER, "2026-08-01")
    assert asked_in(azure) == ["2026-08-01", "2025-04-01", "2024-05-01", "2024-05-01"]


async def test_the_front_doors_own_versions_are_kept_for_its_own_types(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply("/subscriptions", invalid(("2020-01-01", "2019-10-01", "2014-04")), says({"value": []}))
    await arm.list("/subscriptions", "2022-12-01")
    await arm.list("/subscriptions", "2022-12-01", params={"x": "y"})
    assert asked_in(azure) == ["2022-12-01", "2020-01-01", "2020-01-01"]


@pytest.mark.parametrize(
    "refusal",
    [
        no_provider("virtualNetworks", ("2027-01-01", "2028-01-01"), "2024-05-01"),
        no_type("virtualNetworks", "Microsoft.Network", ["2027-01-01"]),
    ],
)
async def test_where_nothing_offered_can_be_read_nothing_counts_as_absent(
    azure: LocalAzure, arm: ArmReader, refusal: Handler
) -> None:
    azure.reply(NETS, refusal)
    with pytest.raises(VersionNotOffered) as caught:
        await arm.list(NETS, "2024-05-01")
    assert caught.value.unavailable.why is Why.FAILED
    assert "from api-version 2027-01-01 on, and aksbot was written for 2024-05-01" in caught.value.detail
    assert len(azure.asked) == 1


async def test_a_refusal_that_offers_the_very_version_is_about_the_place(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(NETS, no_provider("virtualNetworks", ("2024-05-01", "2023-01-01"), "2024-05-01"))
    with pytest.raises(Refused, match="usgovtexas") as caught:
        await arm.list(NETS, "2024-05-01")
    assert not isinstance(caught.value, VersionNotOffered)
    assert len(azure.asked) == 1


async def test_two_refusals_that_contradict_each_other_end(azure: LocalAzure, arm: ArmReader) -> None:
    azure.reply(NETS, no_provider("virtualNetworks", ("2023-01-01",)), no_provider("virtualNetworks", ("2024-05-01",)))
    with pytest.raises(Refused):
        await arm.list(NETS, "2024-05-01")
    assert asked_in(azure) == ["2024-05-01", "2023-01-01"]


# -- recordings ---------------------------------------------------------------------------------------------------


async def test_a_recording_replays_in_any_order_also_where_the_refusal_was_only_remembered(
    azure: LocalAzure, arm: ArmReader, credential: PaperCredential, clock: QuickClock
) -> None:
    azure.reply(str(CLUSTER), no_provider("managedClusters", OLD), says({"id": str(CLUSTER)}))
    azure.reply(OTHER, says({"id": OTHER}))
    await arm.get(str(CLUSTER), "2026-08-01")
    recorder = Recorder()
    async with ArmReader(arm.access, credential=credential, clock=clock, recorder=recorder) as recorded:
        live = [(await recorded.get(path, "2026-08-01")).source for path in (str(CLUSTER), OTHER)]
    assert len(recorder.recording.calls) == 4
    async with ArmReader(AzureAccess(), transport=recorder.recording.transport()) as replayed:
        again = [(await replayed.get(path, "2026-08-01")).source for path in (OTHER, str(CLUSTER))]
    assert again == live[::-1]


async def test_a_recorded_lag_that_cannot_be_helped_replays_as_the_same_error(
    azure: LocalAzure, access: AzureAccess, credential: PaperCredential
) -> None:
    azure.reply(NETS, no_provider("virtualNetworks", ("2027-01-01",), "2024-05-01"))
    recorder, details = Recorder(), []
    async with ArmReader(access, credential=credential, recorder=recorder) as recorded:
        with pytest.raises(VersionNotOffered) as live:
            await recorded.list(NETS, "2024-05-01")
    async with ArmReader(AzureAccess(), transport=recorder.recording.transport()) as replayed:
        with pytest.raises(VersionNotOffered) as again:
            await replayed.list(NETS, "2024-05-01")
    details = [live.value.detail, again.value.detail]
    assert details[0] == details[1]


# -- writes -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def writer(access: AzureAccess, credential: PaperCredential, clock: QuickClock) -> AsyncIterator[ArmWriter]:
    async with ArmWriter(access, credential=credential, clock=clock) as arm:
        yield arm


async def test_a_body_comes_with_the_version_that_it_was_read_in(azure: LocalAzure, writer: ArmWriter) -> None:
    azure.reply(str(CLUSTER), no_provider("managedClusters", OLD), says({"id": str(CLUSTER)}))
    raw = await writer.read(str(CLUSTER), "2026-08-01")
    assert (raw.body, raw.api_version) == ({"id": str(CLUSTER)}, "2024-05-01")
    assert "prod-weu" not in repr(raw)


@pytest.mark.parametrize("method", ["put", "patch", "post", "delete"])
async def test_a_write_is_never_sent_in_another_version_than_it_names(
    azure: LocalAzure, writer: ArmWriter, method: str
) -> None:
    """Also where the cloud is known to refuse it: it refuses then, and nothing has happened."""
    azure.reply(OTHER, no_provider("managedClusters", OLD), says({"id": OTHER}))
    azure.reply(str(CLUSTER), no_provider("managedClusters", OLD))
    await writer.read(OTHER, "2026-08-01")
    arguments: tuple[Any, ...] = () if method == "delete" else ({"location": "westeurope"},)
    with pytest.raises(Refused, match="NoRegisteredProviderFound"):
        await getattr(writer, method)(str(CLUSTER), "2026-08-01", *arguments)
    assert asked_in(azure) == ["2026-08-01", "2024-05-01", "2026-08-01"]


async def test_a_link_to_an_operation_is_used_as_it_came(azure: LocalAzure, writer: ArmWriter) -> None:
    operation = f"{ABOVE}/providers/Microsoft.ContainerService/locations/westeurope/operations/1"
    azure.reply(operation, no_provider("locations/operations", ("2016-03-30",)))
    with pytest.raises(Refused, match="NoRegisteredProviderFound"):
        await writer.poll(f"{azure.url}{operation}?api-version=2025-03-01&t=638&c=MII&s=ab&h=z")
    assert asked_in(azure) == ["2025-03-01"]


async def test_an_action_is_sent_in_what_its_resource_was_read_in(azure: LocalAzure, writer: ArmWriter) -> None:
    action = f"{CLUSTER}/runCommand"
    assert writer.to_ask_in(action, "2026-08-01") == "2026-08-01"
    azure.reply(str(CLUSTER), no_provider("managedClusters", OLD), says({"id": str(CLUSTER)}))
    await writer.read(str(CLUSTER), "2026-08-01")
    assert writer.to_ask_in(action, "2026-08-01") == "2024-05-01"
    assert writer.to_ask_in(action, "2023-02-01") == "2023-02-01"


async def test_the_users_kubeconfig_is_asked_for_in_an_older_version_and_not_recorded(
    azure: LocalAzure, access: AzureAccess, credential: PaperCredential
) -> None:
    azure.reply(f"{CLUSTER}/listClusterUserCredential", no_provider("managedClusters", OLD), says({"kubeconfigs": []}))
    recorder = Recorder()
    async with ArmReader(access, credential=credential, recorder=recorder) as arm:
        assert await arm.user_credential(CLUSTER) == {"kubeconfigs": []}
    assert asked_in(azure) == ["2026-08-01", "2024-05-01"]
    assert recorder.recording.calls == ()


# -- the fleet ----------------------------------------------------------------------------------------------------


def lagging_fleet(azure: LocalAzure, offered: Sequence[str]) -> None:
    clusters = f"{ABOVE}/providers/Microsoft.ContainerService/managedClusters"
    azure.reply("/subscriptions", says({"value": [{"subscriptionId": SUB}]}))
    row = {"id": str(CLUSTER), "name": "prod-weu", "location": "usgovvirginia", "properties": {}}
    azure.reply(clusters, no_provider("managedClusters", offered), says({"value": [row]}))
    missing = no_type("connectedClusters", "Microsoft.Kubernetes")
    azure.reply(f"{ABOVE}/providers/Microsoft.Kubernetes/connectedClusters", missing)
    namespace = refuses(404, "InvalidResourceNamespace", "The resource namespace is invalid.")
    azure.reply(f"{ABOVE}/providers/Microsoft.ResourceConnector/appliances", namespace)


async def test_the_fleet_of_a_cloud_that_lags_behind_is_seen(azure: LocalAzure, arm: ArmReader) -> None:
    lagging_fleet(azure, OLD)
    assert [one.name for one in await fleet(arm)] == ["prod-weu"]


async def test_a_fleet_that_cannot_be_read_in_any_version_is_an_error_with_three_parts(
    azure: LocalAzure, arm: ArmReader
) -> None:
    lagging_fleet(azure, ("2027-01-01",))
    with pytest.raises(Problem) as caught:
        await fleet(arm)
    problem = caught.value
    assert problem.what == "cannot list the clusters"
    assert "microsoft.containerservice/managedclusters from api-version 2027-01-01 on" in problem.why
    assert problem.do.startswith("update aksbot")


async def test_the_clusters_of_arc_do_not_stand_for_a_fleet_whose_managed_clusters_cannot_be_read(
    azure: LocalAzure, arm: ArmReader
) -> None:
    lagging_fleet(azure, ("2027-01-01",))
    row = {"id": f"{GROUP}/providers/Microsoft.Kubernetes/connectedClusters/edge", "name": "edge"}
    azure.on[f"{ABOVE}/providers/Microsoft.Kubernetes/connectedClusters".lower()] = [says({"value": [row]})]
    with pytest.raises(Problem, match="managedclusters"):
        await fleet(arm)


async def test_the_twin_whose_arc_cannot_be_read_shows_its_managed_clusters(azure: LocalAzure, arm: ArmReader) -> None:
    lagging_fleet(azure, OLD)
    arc = f"{ABOVE}/providers/Microsoft.Kubernetes/connectedClusters"
    azure.on[arc.lower()] = [no_provider("connectedClusters", ("2027-01-01",))]
    assert [one.name for one in await fleet(arm)] == ["prod-weu"]


async def test_a_place_where_the_type_is_not_is_no_empty_fleet_either(azure: LocalAzure, arm: ArmReader) -> None:
    """NoRegisteredProviderFound with the version among those offered: the list was not read."""
    lagging_fleet(azure, ("2024-05-01",))
    clusters = f"{ABOVE}/providers/Microsoft.ContainerService/managedClusters"
    azure.on[clusters.lower()] = [no_provider("managedClusters", ("2024-05-01",))]
    with pytest.raises(Refused, match="NoRegisteredProviderFound"):
        await fleet(arm)


async def test_an_activity_log_is_read_in_what_its_cloud_offers(azure: LocalAzure, arm: ArmReader) -> None:
    log = f"{ABOVE}/providers/Microsoft.Insights/eventtypes/management/values"
    azure.reply(log, no_provider("eventtypes/values", ("2014-04-01",)), says({"value": []}))
    until = datetime(2026, 11, 18, tzinfo=UTC)
    listing = await arm.activity(SUB, group="rg-prod", since=until - timedelta(hours=1), until=until)
    assert listing.items == ()
    assert asked_in(azure)[-1] == "2014-04-01"
