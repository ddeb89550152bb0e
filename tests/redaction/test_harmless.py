"""Anything that is not a secret stays readable: ids, digests, names of resources, commands, what errors say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from handlers.clients.redact import redact, redact_text

TEXTS = Path(__file__).with_name("harmless.txt").read_text(encoding="utf-8").splitlines()


def test_there_are_three_hundred() -> None:
    assert len(set(TEXTS)) >= 300


@pytest.mark.parametrize("text", TEXTS)
def test_a_harmless_text_stays(text: str) -> None:
    assert redact_text(text) == text
    assert redact({"message": text}) == {"message": text}
    inside = {"statusMessage": json.dumps({"error": {"message": text}})}
    assert redact(inside) == inside


def test_together_they_stay_too() -> None:
    """None says anything about the next: in a log they stand below each other."""
    log = "\n".join(TEXTS)
    assert redact_text(log) == log
