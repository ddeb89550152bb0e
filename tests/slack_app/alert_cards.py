"""Alerts about a failed pool, from an alert app and from Azure Monitor, built from the sandbox's activity log."""

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
    """The policy lines that let the bot read this app's posts."""
    return f"channels:\n  alert_apps: [{make_id('A', control.team.domain, APP)}]\n"


def failed_pool(world: World) -> dict[str, Any]:
    """The entry of the activity log."""
    return next(
        one
        for one in world.events
        if one["status"]["value"] == "Failed" and str(one["resourceId"]).lower().endswith(POOL)
    )


def post_card(control: Control, channel: str, event: dict[str, Any]) -> Message:
    """Post a typical alert card: the rule, the resource, Azure's error."""
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
    """An activity log alert in Azure Monitor's common alert schema."""
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
    """The inner error, truncated as in cards."""
    (inner,) = json.loads(_error(event))["error"]["details"]
    return f"{inner['code']}: {inner['message'][:330]}…"
