from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack.control import Control
from sandbox.slack.interactions import new_view
from sandbox.slack.page.look import Look
from sandbox.slack.page.markdown import markdown
from sandbox.slack.page.mrkdwn import mrkdwn
from sandbox.slack.server import SlackServer
from tests.sandbox_slack.apps import SocketApp

Body = dict[str, Any]

HOSTILE = [
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert()>",
    '" onmouseover="alert(1)',
    "</textarea></pre></a><b>x</b>",
    "&lt;script&gt;&amp;lt;b&gt;",
    "{{ 7*7 }}{% raw %}<!--",
]
HARMLESS = "x" * 20


class Elements(HTMLParser):
    """Which elements a page has, and which attributes, without what stands in them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.hrefs: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[f"{tag} {' '.join(sorted(name for name, _ in attrs))}"] += 1
        self.hrefs += [value or "" for name, value in attrs if name in ("href", "src")]


@pytest.fixture
async def browser(slack: SlackServer) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(slack.page_url) as session:
        yield session


def where(control: Control, person: str, channel: str = "incidents") -> str:
    return f"/w/{control.team.domain}/{person}/c/{control.team.channel(channel).id}"


async def _get(browser: aiohttp.ClientSession, path: str, status: int = 200, **headers: str) -> str:
    async with browser.get(path, headers=headers) as response:
        assert response.status == status, await response.text()
        return await response.text()


async def _parts(browser: aiohttp.ClientSession, control: Control, person: str, query: str) -> Body:
    text = await _get(browser, f"/w/{control.team.domain}/{person}/parts?{query}")
    parts: Body = json.loads(text)
    return parts


async def _do(browser: aiohttp.ClientSession, control: Control, person: str, **asked: Any) -> Body:
    async with browser.post(f"/w/{control.team.domain}/{person}/do", json=asked) as response:
        answer: Body = await response.json()
        return answer


def every_block(words: str) -> list[Body]:
    """One of everything, with these words wherever words can stand."""
    plain, mark = {"type": "plain_text", "text": words}, {"type": "mrkdwn", "text": words}
    option = {"text": plain, "value": words}
    inline = [
        {"type": "text", "text": words, "style": {"bold": True}},
        {"type": "link", "url": "https://x.example/", "text": words},
    ]
    rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": inline}]}
    confirm = {"title": plain, "text": mark, "confirm": plain, "deny": plain}
    return [
        {
            "type": "section",
            "text": plain,
            "fields": [plain],
            "accessory": {"type": "overflow", "action_id": "o", "options": [option]},
        },
        {"type": "header", "text": plain},
        {
            "type": "context",
            "elements": [plain, {"type": "image", "image_url": "https://x.example/a.png", "alt_text": words}],
        },
        {"type": "image", "image_url": "https://x.example/a.png", "alt_text": words, "title": plain},
        rich,
        {"type": "table", "rows": [[{"type": "raw_text", "text": words}, rich]]},
        {
            "type": "plan",
            "title": words,
            "tasks": [
                {
                    "type": "task_card",
                    "task_id": words,
                    "title": words,
                    "status": "error",
                    "details": rich,
                    "output": rich,
                },
            ],
        },
        {
            "type": "actions",
            "block_id": words,
            "elements": [
                {"type": "button", "text": plain, "action_id": words, "value": words, "confirm": confirm},
                {"type": "static_select", "action_id": "s", "placeholder": plain, "options": [option]},
                {"type": "external_select", "action_id": "e", "placeholder": plain, "initial_option": option},
                {"type": "users_select", "action_id": "u", "placeholder": plain},
                {"type": "checkboxes", "action_id": "c", "options": [{**option, "description": plain}]},
            ],
        },
    ]


@pytest.mark.parametrize("hostile", HOSTILE)
async def test_no_words_anywhere_become_elements(
    client: AsyncWebClient, control: Control, browser: Any, hostile: str
) -> None:
    pages = []
    for words in (HARMLESS, hostile):
        channel = control.create_channel("requester", f"room-{len(words)}")
        channel.topic = words
        control.invite_app("requester", channel.id)
        await client.chat_postMessage(channel=channel.id, text=words, blocks=every_block(words))
        control.say_as_app(words, channel.id, "", attachments=[{"title": words, "footer": words, "color": words}])
        channel.name = words
        pages.append(Elements(await _get(browser, where(control, "requester", channel.id))))
        control.team.channels.remove(channel)
    assert pages[1].found == pages[0].found
    assert not any(one.startswith("javascript:") for one in pages[1].hrefs)


@pytest.mark.parametrize("hostile", HOSTILE)
async def test_no_words_in_a_modal_become_elements(control: Control, browser: Any, hostile: str) -> None:
    pages = []
    for words in (HARMLESS, hostile):
        plain = {"type": "plain_text", "text": words}
        blocks = [
            *[one for one in every_block(words) if one["type"] not in ("table", "plan")],
            {
                "type": "input",
                "block_id": "i",
                "label": plain,
                "hint": plain,
                "element": {"type": "plain_text_input", "action_id": "t", "initial_value": words, "placeholder": plain},
            },
        ]
        body = {"type": "modal", "title": plain, "submit": plain, "close": plain, "blocks": blocks}
        view = new_view(control.site, control.team, control.team.person("requester").id, body)
        view.errors = {"i": words}
        control.site.views.open(view)
        pages.append(Elements((await _parts(browser, control, "requester", "home=1"))["modal"]))
    assert pages[0].found == pages[1].found


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>", "&lt;script&gt;"),
        ("a &lt;b&gt; &amp;amp; c", "a &lt;b&gt; &amp;amp; c"),
        ("*bold* _it_ ~no~ `co*d*e`", "<b>bold</b> <i>it</i> <s>no</s> <code>co*d*e</code>"),
        ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4"),
        ("```\n<b>*x*\n```", "<pre>&lt;b&gt;*x*</pre>"),
        ("&gt; said\nthen", "<blockquote>said</blockquote>then"),
        ("<https://x.example/?a=1&amp;b=2|here>", '<a href="https://x.example/?a=1&amp;b=2"'),
        ("<javascript:alert(1)|click>", "&lt;javascript:alert(1)|click&gt;"),
        ("<!here> <!channel>", '<span class="mention">@here</span>'),
        ("<@U0NOBODY>", '<span class="mention">@somebody</span>'),
        ('<https://x.example/"onclick="alert(1)|x>', "&#34;onclick=&#34;"),
        ("a\nb", "a<br>b"),
        (":unknown_thing:", ":unknown_thing:"),
    ],
)
def test_mrkdwn_is_drawn_and_never_obeyed(control: Control, text: str, html: str) -> None:
    assert html in str(mrkdwn(text, Look(control.team)))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("# Title\ntext", "<h4>Title</h4><p>text</p>"),
        ("**bold** and *it* and `<b>`", "<b>bold</b> and <i>it</i> and <code>&lt;b&gt;</code>"),
        ("- a\n- b", "<ul><li"),
        ("3. a\n4. b", '<ol start="3">'),
        ("| a | b |\n|---|---|\n| 1 | <x> |", "<td>&lt;x&gt;</td>"),
        ("```\n**x**\n```\nafter", "<pre>**x**</pre><p>after</p>"),
        ("> quoted", "<blockquote><p>quoted</p></blockquote>"),
        ("[x](javascript:alert)", "&lt;javascript:alert|x&gt;"),
        ("[x](https://x.example)", '<a href="https://x.example"'),
        ("<script>alert(1)</script>", "&lt;script&gt;"),
        ("```\nnever closed", "<pre>never closed</pre>"),
    ],
)
def test_markdown_is_drawn_and_never_obeyed(text: str, html: str) -> None:
    assert html in str(markdown(text))


async def test_only_the_person_it_is_for_sees_an_ephemeral_message(
    client: AsyncWebClient, control: Control, browser: Any
) -> None:
    channel, user = control.team.channel("incidents").id, control.team.person("requester").id
    await client.chat_postEphemeral(channel=channel, user=user, text="psst")
    assert "psst" in await _get(browser, where(control, "requester"))
    assert "psst" not in await _get(browser, where(control, "approver"))


async def test_a_person_sees_only_the_channels_that_they_see_in_slack(control: Control, browser: Any) -> None:
    assert "leads-private" not in await _get(browser, where(control, "requester"))
    assert "leads-private" in await _get(browser, where(control, "approver"))
    assert "random" not in await _get(browser, where(control, "guest", "contractors"))
    await _get(browser, where(control, "requester", "leads-private"), 404)
    await _get(browser, "/w/nowhere/requester", 404)
    await _get(browser, f"/w/{control.team.domain}/nobody", 404)


async def test_the_front_door_leads_to_a_channel_of_the_app(browser: Any) -> None:
    page = await _get(browser, "/")
    assert "Message #incidents" in page


async def test_the_page_is_for_this_machines_own_browser(control: Control, browser: Any) -> None:
    path = where(control, "requester")
    await _get(browser, path, 421, Host="evil.example")
    await _get(browser, path, 403, Origin="https://evil.example")
    async with browser.post(f"/w/{control.team.domain}/requester/do", data="do=send") as response:
        assert response.status == 415
    async with browser.get(path) as response:
        assert "script-src 'self'" in response.headers["Content-Security-Policy"]


async def test_what_is_typed_is_said_or_sent_as_a_command(app: SocketApp, control: Control, browser: Any) -> None:
    sent: list[str] = []

    @app.bolt.command("/aks")
    async def aks(ack: Any, command: Body) -> None:
        sent.append(command["text"])
        await ack()

    channel = control.team.channel("incidents").id
    assert (await _do(browser, control, "requester", do="send", text="hello", channel=channel))["ok"]
    assert (await _do(browser, control, "requester", do="send", text="/aks check prod-weu", channel=channel))["ok"]
    head = control.messages("incidents")[0]
    in_thread = {"text": "/aks check", "channel": channel, "thread_ts": head.ts}
    refused = await _do(browser, control, "requester", do="send", **in_thread)
    assert refused == {"ok": False, "message": "/aks is not supported in threads. Sorry!"}
    assert sent == ["check prod-weu"]
    unknown = await _do(browser, control, "requester", do="fly")
    assert unknown["ok"] is False


async def test_buttons_menus_modals_and_shortcuts_work(
    app: SocketApp, client: AsyncWebClient, control: Control, browser: Any
) -> None:
    plain = {"type": "plain_text", "text": "x"}
    options = [{"text": {"type": "plain_text", "text": one}, "value": one} for one in ("prod-weu", "dev-shared")]
    external = {"type": "external_select", "action_id": "cluster", "min_query_length": 0}
    submitted: list[Body] = []

    @app.bolt.action("open")
    async def opened(ack: Any, body: Body) -> None:
        await ack()
        block = {"type": "input", "block_id": "in", "label": plain, "element": external}
        view = {"type": "modal", "callback_id": "pick", "title": plain, "submit": plain, "blocks": [block]}
        await client.views_open(trigger_id=body["trigger_id"], view=view)

    @app.bolt.options("cluster")
    async def offered(ack: Any, payload: Body) -> None:
        await ack(options=[one for one in options if payload["value"] in one["value"]])

    @app.bolt.view("pick")
    async def picked(ack: Any, view: Body) -> None:
        submitted.append(view["state"]["values"])
        await ack()

    @app.bolt.shortcut("triage_this")
    async def triage(ack: Any) -> None:
        await ack()

    channel = control.team.channel("incidents").id
    blocks = [
        {"type": "actions", "block_id": "b", "elements": [{"type": "button", "text": plain, "action_id": "open"}]}
    ]
    ts = (await client.chat_postMessage(channel=channel, text="x", blocks=blocks))["ts"]
    assert (await _do(browser, control, "approver", do="press", message=ts, block_id="b", action_id="open"))["ok"]
    view = await control.until(lambda: control.modal("approver"))
    assert view is not None
    place = {"view": view.id, "block_id": "in", "action_id": "cluster"}
    found = await _do(browser, control, "approver", do="suggest", query="dev", **place)
    assert found["options"] == [{"value": "dev-shared", "text": "dev-shared"}]
    await _do(browser, control, "approver", do="submit", values={"in": {"cluster": None}})
    assert "Please complete" in (await _parts(browser, control, "approver", "home=1"))["modal"]
    await _do(browser, control, "approver", do="submit", values={"in": {"cluster": "dev-shared"}})
    assert submitted[0]["in"]["cluster"]["selected_option"]["value"] == "dev-shared"
    assert control.modal("approver") is None
    shortcut = {"channel": channel, "message": ts, "callback_id": "triage_this"}
    assert (await _do(browser, control, "approver", do="shortcut", **shortcut))["ok"]
    gone = await _do(browser, control, "approver", do="press", message="1.0", block_id="b", action_id="open")
    assert gone["ok"] is False


async def test_what_the_app_does_not_acknowledge_is_said(
    client: AsyncWebClient, control: Control, browser: Any
) -> None:
    plain = {"type": "plain_text", "text": "x"}
    blocks = [{"type": "actions", "block_id": "b", "elements": [{"type": "button", "text": plain, "action_id": "go"}]}]
    channel = control.team.channel("incidents").id
    ts = (await client.chat_postMessage(channel=channel, text="x", blocks=blocks))["ts"]
    answer = await _do(browser, control, "approver", do="press", message=ts, block_id="b", action_id="go")
    assert answer["message"].startswith("We had some trouble connecting to aksbot")


async def test_changes_are_streamed_to_the_page(control: Control, browser: Any) -> None:
    async with browser.get(f"/w/{control.team.domain}/requester/changes") as response:
        first = await response.content.readuntil(b"\n\n")
        control.say("approver", "incidents", "hello")
        assert await response.content.readuntil(b"\n\n") > first.split(b"\n")[1]


async def test_unread_channels_are_marked_until_they_are_looked_at(control: Control, browser: Any) -> None:
    control.say("approver", "general", "hello")
    control.say("approver", "platform-on-call", "hello @requester")
    side = (await _parts(browser, control, "requester", "home=1"))["side"]
    assert side.count('class="unread ') == 2
    assert '<span class="count">1</span>' in side
    await _get(browser, where(control, "requester", "platform-on-call"))
    side = (await _parts(browser, control, "requester", "home=1"))["side"]
    assert side.count('class="unread ') == 1
    assert "count" not in side


async def test_files_are_there_for_those_who_see_where_they_were_shared(
    client: AsyncWebClient, control: Control, browser: Any
) -> None:
    channel = control.team.channel("payments-private").id
    await client.files_upload_v2(channel=channel, filename="a.html", content="<script>alert(1)</script>")
    [file] = control.files("payments-private")
    path = f"/w/{control.team.domain}/{{}}/files/{file.id}"
    async with browser.get(path.format("requester")) as response:
        assert response.content_type == "text/plain"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    await _get(browser, path.format("visitor"), 404)


async def test_threads_home_and_all_sizes_of_the_page_are_drawn(
    client: AsyncWebClient, control: Control, browser: Any
) -> None:
    head = control.say("requester", "incidents", "head")
    control.say("approver", "incidents", "the answer", thread_ts=head.ts)
    page = await _get(browser, where(control, "requester") + f"?thread={head.ts}&theme=dark")
    assert "the answer" in page
    assert "1 reply" in page
    assert 'data-theme="dark"' in page
    blocks = [{"type": "header", "text": {"type": "plain_text", "text": "Your fleet"}}]
    user = control.team.person("requester").id
    await client.views_publish(user_id=user, view={"type": "home", "blocks": blocks})
    assert "Your fleet" in await _get(browser, f"/w/{control.team.domain}/requester/home")
    for name in ("slack.css", "slack.js", "icons.svg"):
        await _get(browser, f"/static/{name}")
    await _get(browser, "/static/nothing.js", 404)
