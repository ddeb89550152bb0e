"""`aksbot triage`: a file of messages, or one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.bot.conftest import Here, here

__all__ = ["here"]
FLEET = ("--clusters", "prod-weu, dev-shared")


def test_each_line_keeps_its_keys_and_gets_cluster_and_codes(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    rows = [{"id": 1, "text": "prod-weu: SubnetIsFull", "cluster": "x"}, {"text": "guten Morgen 👋"}, {"blocks": []}]
    file.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    ran = here("triage", "--jsonl", str(file), *FLEET)
    assert ran.code == 0
    told = [json.loads(line) for line in ran.out.splitlines()]
    told[0]["codes"] = told[0]["codes"][:1]
    assert told == [
        {"id": 1, "text": "prod-weu: SubnetIsFull", "cluster": "prod-weu", "codes": ["subnet-full"]},
        {"text": "guten Morgen 👋", "cluster": None, "codes": []},
        {"blocks": [], "cluster": None, "codes": []},
    ]


def test_one_message_is_explained(here: Here) -> None:
    ran = here("triage", "dev-shared", "subnet has no addresses left", *FLEET)
    assert ran.code == 0
    for part in ("sure", "cluster dev-shared", "subnet-full", "speak of it"):
        assert part in ran.out


def test_silence_is_explained_and_ends_with_2(here: Here) -> None:
    ran = here("triage", "[RESOLVED] SubnetIsFull", *FLEET)
    assert ran.code == 2
    assert "it is over" in ran.out


def test_a_program_gets_the_reasons(here: Here) -> None:
    told = json.loads(here("triage", "prod-weu: SubnetIsFull", *FLEET, "--output", "json").out)
    assert (told["certainty"], told["cluster"], told["codes"][0]) == ("sure", "prod-weu", "subnet-full")
    assert told["why"]["subnet-full"]


def test_wrong_use_is_told_by_line(here: Here, tmp_path: Path) -> None:
    assert here("triage", *FLEET).code == 64
    assert "cannot read" in here("triage", "--jsonl", str(tmp_path / "none"), *FLEET).err
    file = tmp_path / "in.jsonl"
    file.write_text('{"text": "a"}\nnot json\n')
    ran = here("triage", "--jsonl", str(file), *FLEET)
    assert ran.code == 64
    assert "line 2" in ran.err
