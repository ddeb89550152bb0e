"""Records stored by earlier versions can be read and shown: fixes survive an upgrade of the bot.

`stored/` has them as they were in Redis. Never regenerate them: add new ones when the format changes.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.audit.chain import Tip, verify
from bot.audit.record import Record
from bot.fixes.proposal import End, Proposal, State
from bot.fixes.store import audit_records
from bot.slack.fixes import view as fixes_view
from bot.slack.fixes.lists import view as lists_view
from bot.slack.fixes.lists.view import AuditPage, AuditState
from bot.slack.fixes.view import Shown
from bot.store.codec import decode, encode
from handlers.remedy.execution import Execution, Outcome, Phase
from tests.slack.reading import read

STORED = Path(__file__).parent / "stored"


def _proposal(name: str) -> Proposal:
    return decode(Proposal, (STORED / f"{name}.proposal.json").read_text())


def _records(name: str) -> list[Record]:
    rows = [json.loads(line) for line in (STORED / f"{name}.audit.jsonl").read_text().splitlines()]
    return [Record(**row | {"number": int(row["number"]), "at_ms": int(row["at_ms"])}) for row in rows]


async def _chain(records: list[Record]) -> AsyncIterator[Record]:
    for one in records:
        yield one


def test_a_proposal_that_was_approved_and_ended_is_read() -> None:
    one = _proposal("fixed")
    assert (one.state, one.end, one.requester and one.requester.name) == (State.ENDED, End.FIXED, "requester")
    assert [(word.person.name, word.digest == one.digest, word.broke_glass) for word in one.approvals] == [
        ("approver", True, False)
    ]
    assert one.why == "Before: nodepool-failed. After: it is gone. The cluster now: CLEAR, 16 checks found nothing"


def test_a_proposal_for_which_the_glass_was_broken_is_read() -> None:
    one = _proposal("stale")
    assert (one.end, one.approvals[0].broke_glass, one.approvals[0].reason) == (End.STALE, True, "payments are down")
    assert one.why.startswith("The world has moved since the plan was made: eTag of pool general: was ")


@pytest.mark.parametrize("name", ["fixed", "stale"])
def test_a_proposal_is_written_so_that_it_reads_the_same_and_its_plan_letter_by_letter(name: str) -> None:
    stored, written = json.loads((STORED / f"{name}.proposal.json").read_text()), encode(_proposal(name))
    assert decode(Proposal, written) == _proposal(name)
    assert json.loads(written)["plan"] == stored["plan"]


def test_how_far_a_fix_was_is_read_and_written_as_it_was() -> None:
    text = (STORED / "fixed.execution.json").read_text().strip()
    here = Execution.from_json(text)
    assert (here.outcome, here.phase, len(here.calls)) == (Outcome.DONE, Phase.READY, 1)
    assert here.plan.digest == _proposal("fixed").digest
    assert here.as_json() == text


def test_what_a_probe_has_answered_is_read_and_written_as_it_was() -> None:
    text = (STORED / "answered.execution.json").read_text().strip()
    here = Execution.from_json(text)
    assert here.answer.splitlines() == [
        "https://10.0.0.1/ no answer within 10 s",
        "https://prod-weu/ 401: the way is open",
    ]
    assert here.as_json() == text


@pytest.mark.parametrize("name", ["fixed", "stale"])
async def test_the_chain_of_the_audit_still_holds_and_says_how_the_fix_ended(name: str) -> None:
    records = _records(name)
    verdict = await verify(_chain(records), Tip(len(records), records[-1].hash))
    assert (verdict.whole, verdict.records) == (True, len(records))
    one = _proposal(name)
    assert audit_records.ended_as(records[-1]) == (one.end, one.why)


@pytest.mark.parametrize("name", ["fixed", "stale"])
def test_people_are_shown_what_they_were_shown_before(name: str) -> None:
    one = _proposal(name)
    assert one.why in read(fixes_view.message(Shown(one)))
    page = AuditPage(tuple(reversed(_records(name))))
    listed = read(lists_view.audit(AuditState("whole"), page, direct=True))
    assert one.why[:60] in listed
    assert "cannot be read" not in listed
    assert ("you are not among those" in listed) == (name == "fixed"), "what was written stays as it was written"
