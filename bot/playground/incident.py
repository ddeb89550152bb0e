"""The first messages in the demo's incident channel: an alert, and a person who has seen it.

The alert says what the sandbox's activity log says, no more.
"""

from __future__ import annotations

from typing import Any

from sandbox.slack.control import Control
from sandbox.world import World

CHANNEL = "incidents"
WHO_ASKS = "requester"
_ALERT_APP = "Azure Monitor"
_QUESTION = "The upgrade of {cluster} did not go through. Does anybody know why?"


def post_incident(control: Control, world: World, cluster: str) -> None:
    """Posts nothing if the activity log holds no failure of this cluster."""
    ending = f"/managedclusters/{cluster}".lower()
    failed = (event for event in world.events if _is_failure(event) and event["resourceId"].lower().endswith(ending))
    event = next(failed, None)
    if event is None:
        return
    operation = str(event["operationName"]["localizedValue"])
    control.say_as_app(_ALERT_APP, CHANNEL, f"Fired: {operation} on {cluster} failed", blocks=_card(event, cluster))
    control.say(WHO_ASKS, CHANNEL, _QUESTION.format(cluster=cluster))


def _is_failure(event: dict[str, Any]) -> bool:
    return bool(event["status"]["value"] == "Failed")


def _card(event: dict[str, Any], cluster: str) -> list[dict[str, Any]]:
    fields = {
        "Resource": cluster,
        "Resource group": event["resourceGroupName"],
        "Operation": event["operationName"]["localizedValue"],
        "Status": event["status"]["value"],
        "Time (UTC)": str(event["eventTimestamp"])[:19].replace("T", " "),
        "Correlation id": f"`{event['correlationId']}`",
    }
    return [
        {"type": "header", "text": {"type": "plain_text", "text": f"Fired: activity log alert on {cluster}"}},
        {
            "type": "section",
            "fields": [{"type": "mrkdwn", "text": f"*{name}*\n{value}"} for name, value in fields.items()],
        },
    ]
