"""The bot recognises what is left of a message once secrets are out: that must not change what it says."""

from __future__ import annotations

import json
from pathlib import Path

from bot.triage.clusters import FleetNames
from bot.triage.recognise import Recogniser, Recognition
from handlers.clients.redact import redact_text
from tests.bot.conftest import Here, here
from tests.checking import LIBRARY
from tests.triage.messages import KEPT

__all__ = ["here"]
RECOGNISER = Recogniser(LIBRARY)
FLEET = FleetNames(("prod-weu", "edge-nexus-01", "arc-bridge-hq"))


def _verdict(text: str) -> tuple[object, ...]:
    found: Recognition = RECOGNISER.recognise(text, FLEET)
    return found.certainty, found.codes, found.cluster


def test_redaction_changes_no_verdict_on_messages_that_nothing_was_learned_from() -> None:
    redacted = [(one.text, clean) for one in KEPT if (clean := redact_text(one.text)) != one.text]
    assert [text for text, clean in redacted if _verdict(text) != _verdict(clean)] == []


def test_a_mark_in_a_secrets_place_says_nothing() -> None:
    for one in KEPT[::20]:
        marked = f"{one.text}\n[redacted:password] [redacted:devops-pat]"
        assert _verdict(marked) == _verdict(f"{one.text}\n "), one.text


def test_the_command_reads_what_the_bot_reads(here: Here, tmp_path: Path) -> None:
    """A cluster's name inside a secret is gone before anybody looks for it."""
    file, text = tmp_path / "in.jsonl", "SubnetIsFull, no more IPs, password=prod-weu-Zq9xK2"
    file.write_text(json.dumps({"text": text}) + "\n" + json.dumps({"text": redact_text(text)}))
    told = [
        json.loads(line) for line in here("triage", "--jsonl", str(file), "--clusters", "prod-weu").out.splitlines()
    ]
    assert told[0]["codes"] == told[1]["codes"]
    assert told[0]["codes"][0] == "subnet-full"
