from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.control import Control
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import SocketApp
from tests.sandbox_slack.devtools import CHROMIUM, chromium

Body = dict[str, Any]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on this machine")

COMPOSER = ".composer[data-where=channel] textarea"


async def test_a_person_types_presses_and_reads_in_the_browser(
    app: SocketApp, client: AsyncWebClient, control: Control, slack: SlackServer, tmp_path: Path
) -> None:
    plain = {"type": "plain_text", "text": "Again"}

    @app.bolt.command("/aks")
    async def aks(ack: Any, say: Any, command: Body) -> None:
        await ack()
        button = {"type": "actions", "elements": [{"type": "button", "text": plain, "action_id": "again"}]}
        words = {"type": "section", "text": {"type": "plain_text", "text": f"Looking: {command['text']}"}}
        await say(text="x", blocks=[words, button])

    @app.bolt.action("again")
    async def again(ack: Any, body: Body) -> None:
        await ack()
        view: Body = {"type": "modal", "callback_id": "why", "title": plain, "submit": plain}
        element = {"type": "plain_text_input", "action_id": "why"}
        view["blocks"] = [{"type": "input", "block_id": "b", "label": plain, "element": element}]
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    @app.bolt.view("why")
    async def why(ack: Any, view: Body) -> None:
        said = view["state"]["values"]["b"]["why"]["value"]
        if said == "because":
            await ack(response_action="errors", errors={"b": "Say more"})
        else:
            await ack()

    head = control.say("approver", "incidents", "prod-weu is slow")
    place = f"{slack.site.base}/w/{control.team.domain}/requester/c/{control.team.channel('incidents').id}"
    async with chromium(tmp_path) as tab:
        await tab.open(place)

        await tab.type(COMPOSER, "/aks check <b>prod-weu</b>")
        await tab.enter()
        await tab.until("document.body.innerText.includes('Looking: check <b>prod-weu</b>')")

        await tab.type(COMPOSER, "half a sentence")
        control.say("approver", "incidents", "live @requester")
        await tab.until("document.body.innerText.includes('live @requester')")
        assert await tab.value(f"document.querySelector('{COMPOSER}').value") == "half a sentence"

        await tab.click("[data-action_id=again]")
        await tab.until("document.querySelector('.modal textarea, .modal input')")
        await tab.type(".modal input", "because")
        await tab.click(".modal [type=submit]")
        await tab.until("document.querySelector('.modal .error')?.innerText === 'Say more'")
        assert await tab.value("document.querySelector('.modal input').value") == "because"
        await tab.type(".modal input", " of the alert")
        await tab.click(".modal [type=submit]")
        await tab.until("!document.querySelector('.modal')")

        await tab.click(f"[data-thread='{head.ts}']")
        await tab.until("document.querySelector('#thread article')")
        await tab.type(".composer[data-where=thread] textarea", "on it")
        await tab.enter()
        await tab.until("document.querySelector('#thread').innerText.includes('on it')")
        await tab.type(".composer[data-where=thread] textarea", "/aks check")
        await tab.enter()
        await tab.until("document.querySelector('#toasts').innerText.includes('not supported in threads')")

        assert tab.broken == []
    assert [one.text for one in control.thread("incidents", head.ts)] == ["prod-weu is slow", "on it"]
