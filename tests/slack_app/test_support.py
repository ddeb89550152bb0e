"""`/aks support` and the button under an answer: a redacted file, for those who may look and for nobody else."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from bot.app import Bot
from sandbox.slack.control import Control
from sandbox.slack.message import Message, StoredFile
from tests.slack_app.conftest import Start
from tests.slack_app.reading import answered, buttons, heads, seen

WITHIN_S = 300.0
"""A packet is a whole check, and a picture drawn by a process of its own."""
INSIDE, WITH_A_GUEST = "platform-on-call", "contractors"


def opened(file: StoredFile) -> zipfile.ZipFile:
    assert file.content is not None
    return zipfile.ZipFile(io.BytesIO(file.content))


async def posted(control: Control, channel: str) -> tuple[Message, StoredFile]:
    """The head and the file in its thread."""
    await control.until(lambda: control.files(channel), WITHIN_S)
    (head,) = heads(control, channel)
    (file,) = control.files(channel, head.ts)
    return head, file


async def test_the_packet_is_a_file_in_the_thread_and_says_what_is_in_it(bot: Bot, control: Control) -> None:
    await control.slash("requester", INSIDE, "/aks", "support prod-weu")
    head, file = await posted(control, INSIDE)
    assert "Support packet of `prod-weu` (UNHEALTHY): the file is in this thread." in seen(head)
    listed = " ".join(seen(message) for message in control.thread(INSIDE, head.ts))
    requester = control.team.person("requester").id
    assert requester in str(control.thread(INSIDE, head.ts)[1].blocks)
    with opened(file) as packet:
        assert file.name.startswith("support-prod-weu-")
        assert all(name in listed for name in packet.namelist())
        summary = packet.read("summary.md").decode()
    assert "`quota-exceeded`" in summary
    assert "what aksbot itself did" not in summary


async def test_where_guests_read_it_goes_to_the_one_who_asked(bot: Bot, control: Control) -> None:
    await control.slash("requester", WITH_A_GUEST, "/aks", "support prod-weu")
    await control.until(lambda: control.files(control.direct("requester").id), WITHIN_S)
    assert any("direct message to you: guests" in seen(one) for one in control.ephemerals("requester"))
    assert control.messages(WITH_A_GUEST) == []


async def test_where_the_bot_is_no_member_it_goes_to_the_one_who_asked(bot: Bot, control: Control) -> None:
    await control.slash("requester", "random", "/aks", "support prod-weu")
    await control.until(lambda: control.files(control.direct("requester").id), WITHIN_S)
    assert any("I am not in this channel" in seen(one) for one in control.ephemerals("requester"))


async def test_who_may_not_look_gets_no_packet_and_hears_why_and_whom_to_ask(
    start: Start, control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = tmp_path / "policy.yaml"
    person = f"{control.team.id}:{control.team.person('approver').id}"
    policy.write_text(f"look: {{ask: the platform team, rules: [{{clusters: ['*'], people: ['{person}']}}]}}")
    monkeypatch.setenv("AKSBOT_POLICY", str(policy))
    async with start():
        await control.slash("requester", INSIDE, "/aks", "support prod-weu")
        await control.until(lambda: control.ephemerals("requester"), 30)
        said = seen(control.ephemerals("requester")[-1])
        assert "I may not show you `prod-weu` here" in said
        assert "it is for other people" in said
        assert "ask the platform team" in said
        control.mention("visitor", INSIDE, "support prod-weu")
        await control.until(lambda: control.ephemerals("visitor"), 30)
        assert "it is for other people" in seen(control.ephemerals("visitor")[-1])
        # The queue is worked on in turn: with this answer theirs would be there, too.
        await control.slash("approver", INSIDE, "/aks", "support prod-weu")
        head, _ = await posted(control, INSIDE)
    assert [one.ts for one in heads(control, INSIDE)] == [head.ts]


async def test_a_cluster_that_is_not_found_ends_in_words_in_place_of_a_file(bot: Bot, control: Control) -> None:
    await control.slash("requester", INSIDE, "/aks", "support prod-wue")
    await control.until(lambda: "There is no support packet" in "".join(map(seen, heads(control, INSIDE))), WITHIN_S)
    (head,) = heads(control, INSIDE)
    assert "`prod-wue`" in seen(head)
    assert "What to do" in seen(head)
    assert control.files(INSIDE) == []


async def test_without_a_name_and_a_default_cluster_it_asks_for_one(bot: Bot, control: Control) -> None:
    await control.slash("requester", INSIDE, "/aks", "support")
    await control.until(lambda: control.ephemerals("requester"), 30)
    assert "Say for which cluster" in seen(control.ephemerals("requester")[-1])
    assert control.messages(INSIDE) == []


async def test_in_a_thread_it_is_posted_there(bot: Bot, control: Control) -> None:
    asked = control.mention("requester", INSIDE, "support prod-weu")
    await control.until(lambda: control.files(INSIDE), WITHIN_S)
    assert len(control.files(INSIDE, asked.ts)) == 1
    assert heads(control, INSIDE) == []


async def test_an_answer_whose_page_does_not_send_people_to_support_has_no_button(bot: Bot, control: Control) -> None:
    await control.slash("requester", INSIDE, "/aks", "check prod-weu")
    (head,) = await answered(control, INSIDE)
    assert not any("support_packet" in buttons(one) for one in control.thread(INSIDE, head.ts))
