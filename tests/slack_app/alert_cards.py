"""What an alert app and Azure Monitor itself say about a pool that failed, taken from the sandbox's activity log."""

from __future__ import annotations

import json
from typing import Any

from sandbox.slack.control import Control
from sandbox.slack.message import Message
from sandbox.slack.workspace import make_id
from sandbox.world import World

APP = "Azure Monitor"
RULE = "Node pool operation failed"
POOL = "/agentpools/general"


def believed(control: Control) -> str:
    """The lines of a policy that let the bot read what the app posts."""
    return f"channels:\n  alert_apps: [{make_id('A', control.team.domain, APP)}]\n"


def failed_pool(world: World) -> dict[str, Any]:
    """The entry of the activity log."""
    return next(
        one
        for one in world.events
        if one["status"]["value"] == "Failed" and str(one["resourceId"]).lower().endswith(POOL)
    )


def post_card(control: Control, channel: str, event: dict[str, Any]) -> Message:
    """As alert apps post it: the rule, the resource, Azure's own error."""
    resource = str(event["resourceId"])
    name = "/".join(resource.split("/")[-3:])
    fields = {
        "Resource": f"<https://portal.azure.com/#@/resource{resource}|{name}>",
        "Condition": "Fired · Sev1",
        "Operation": event["operationName"]["localizedValue"],
        "Time (UTC)": _moment(event),
    }
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": f"Fired: {RULE}"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "\n".join(f"*{n}:* {v}" for n, v in fields.items())}},
        {"type": "section", "text": {"type": "mrkdwn", "text": f"```{_short(event)}```"}},
    ]
    return control.say_as_app(APP, channel, f"Fired: {RULE}", blocks=blocks)


def common_alert(event: dict[str, Any], *, over: bool = False) -> dict[str, Any]:
    """Azure Monitor's common alert schema, of an activity log alert."""
    essentials = {
        "alertId": "/subscriptions/0/providers/Microsoft.AlertsManagement/alerts/pool-1",
        "alertRule": RULE,
        "severity": "Sev1",
        "signalType": "Activity Log",
        "monitorCondition": "Resolved" if over else "Fired",
        "monitoringService": "Activity Log - Administrative",
        "alertTargetIDs": [event["resourceId"]],
        "configurationItems": ["general"],
        "firedDateTime": event["eventTimestamp"],
        "essentialsVersion": "1.0",
        "alertContextVersion": "1.0",
    }
    if over:
        essentials["resolvedDateTime"] = event["eventTimestamp"]
    context = {
        "operationName": event["operationName"]["value"],
        "status": event["status"]["value"],
        "properties": {"statusMessage": _error(event)},
    }
    return {"schemaId": "azureMonitorCommonAlertSchema", "data": {"essentials": essentials, "alertContext": context}}


def _moment(event: dict[str, Any]) -> str:
    return str(event["eventTimestamp"])[:16].replace("T", " ")


def _error(event: dict[str, Any]) -> str:
    return str(event["properties"]["statusMessage"])


def _short(event: dict[str, Any]) -> str:
    """The inner error, cut as cards cut it."""
    (inner,) = json.loads(_error(event))["error"]["details"]
    return f"{inner['code']}: {inner['message'][:330]}…"
