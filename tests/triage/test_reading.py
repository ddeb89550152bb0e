"""The text of a message is extracted from every message format."""

from __future__ import annotations

from bot.triage.reading import read_alert, read_message
from bot.triage.recognise import Recogniser
from runbooks.library import Library
from tests.bench.triage import FLEET

RECOGNISER = Recogniser(Library.load())

COMMON_ALERT = {
    "schemaId": "azureMonitorCommonAlertSchema",
    "data": {
        "essentials": {
            "alertRule": "KubeNodeNotReady",
            "severity": "Sev1",
            "monitorCondition": "Fired",
            "description": "aks-apps-12345678-vmss000001 has been NotReady for more than 15 minutes",
            "alertTargetIDs": [
                "/subscriptions/x/resourcegroups/rg/providers/microsoft.containerservice/managedclusters/prod-weu"
            ],
        },
        "alertContext": {
            "condition": {"allOf": [{"metricName": "node_status", "dimensions": [{"value": "NotReady"}]}]}
        },
    },
}
ALERTMANAGER = {
    "status": "firing",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "KubeNodeNotReady", "cluster": "staging-neu"},
            "annotations": {"description": "aks-apps-12345678-vmss000001 has been unready for more than 15 minutes."},
        }
    ],
}


def test_a_common_alert_names_its_cluster_and_problem() -> None:
    found = RECOGNISER.recognise(read_alert(COMMON_ALERT), FLEET)
    assert (found.cluster, found.codes[0]) == ("prod-weu", "node-not-ready")


def test_an_alertmanager_alert_names_its_cluster_and_problem() -> None:
    found = RECOGNISER.recognise(read_alert(ALERTMANAGER), FLEET)
    assert (found.cluster, found.codes[0]) == ("staging-neu", "node-not-ready")


def test_an_alert_that_is_over_is_quiet() -> None:
    essentials = COMMON_ALERT["data"]["essentials"] | {"monitorCondition": "Resolved"}  # type: ignore[index]
    assert RECOGNISER.recognise(read_alert({"data": {"essentials": essentials}}), FLEET).codes == ()
    assert RECOGNISER.recognise(read_alert(ALERTMANAGER | {"status": "resolved"}), FLEET).codes == ()


def test_attachments_fields_and_text_files_are_read() -> None:
    message = {
        "text": "<!here> look",
        "attachments": [{"title": "AKS", "fields": [{"title": "Cluster", "value": "prod-eus2"}]}],
        "files": [
            {"filetype": "log", "preview": "Code: SubnetIsFull"},
            {"filetype": "png", "preview": "QuotaExceeded"},
        ],
    }
    found = RECOGNISER.recognise(read_message(message), FLEET)
    assert (found.cluster, found.codes) == ("prod-eus2", ("subnet-full",))


def test_a_deep_or_odd_body_does_no_harm() -> None:
    deep: dict[str, object] = {}
    for _ in range(2_000):
        deep = {"a": deep, "b": [1, None, True, "x"]}
    assert read_alert(deep).startswith("b: 1")
    assert read_message({}) == ""
