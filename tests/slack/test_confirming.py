"""Whoever approves a fix reads what it does to whom: in the message, on the lock screen, and before the last press."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.slack.fixes import plan_view
from bot.slack.fixes import view as fixes_view
from bot.slack.fixes.buttons import APPROVE
from bot.slack.kit import limits
from bot.slack.kit.message import Message
from handlers.remedy.titles import titled
from tests.slack.reading import read
from tests.slack.surfaces_fixes import ASKED, PLAN, PRESSED, SEVERAL, STATES, proposal

EFFECT = "PDB shop/web allows 1 disruption, then the upgrade goes on: 8 nodes are replaced one by one"


def confirmation(message: Message) -> dict[str, Any]:
    elements = [one for block in message.blocks for one in block.get("elements", [])]
    (approve,) = [one for one in elements if one.get("action_id") == APPROVE]
    confirm: dict[str, Any] = approve["confirm"]
    return confirm


def asked(effect: str) -> Message:
    return fixes_view.message(replace(ASKED, proposal=proposal(replace(PLAN, effect=effect))))


def test_the_confirmation_names_the_effect_and_how_long_it_takes() -> None:
    shown = confirmation(asked(EFFECT))
    assert shown["title"]["text"] == "prod-weu: Reconcile node pool apps?"
    assert shown["text"]["text"] == f"{EFFECT}. About 5 min. It begins as soon as it is approved."


def test_the_confirmation_keeps_both_ends_of_the_clusters_name_and_all_of_the_title() -> None:
    name = "aks-payments-checkout-production-westeurope-blue-green-canary-01"
    title = titled("Relax budget {}, then go on", "checkout-service-canary-disruption-budget")
    plan = replace(PLAN, title=title, cluster=PLAN.cluster.replace("prod-weu", name))
    said = confirmation(fixes_view.message(replace(ASKED, proposal=proposal(plan))))["title"]["text"]
    assert len(said) <= limits.CONFIRM_TITLE
    assert said.startswith("aks-payments-chec")
    assert said.endswith(f"canary-01: {title}?")


def test_a_long_effect_is_cut_and_what_follows_it_is_not() -> None:
    said = confirmation(asked("pool apps, " * 60))["text"]["text"]
    assert len(said) <= limits.CONFIRM_TEXT
    assert said.endswith("About 5 min. It begins as soon as it is approved.")


def test_the_message_and_the_lock_screen_say_it_too() -> None:
    message = asked(EFFECT)
    assert EFFECT in message.text
    assert EFFECT in read(message)


def test_a_plan_of_an_earlier_version_is_called_by_its_title_and_its_steps() -> None:
    said = confirmation(asked(""))["text"]["text"]
    assert said.startswith("Reconcile node pool apps on prod-weu: 1 step. About 5 min.")


def test_the_first_screen_of_the_window_holds_the_effect_and_the_question_and_the_calls_stand_below() -> None:
    window = plan_view.asking(proposal(), PRESSED, ASKED.called, alone=False, reason_needed=True)
    shown = read(window)
    order = [
        PLAN.effect,
        "What could go wrong",
        "Why is this done?",
        "PUT /subscriptions",
        "Only if",
        "eTag of pool apps",
    ]
    places = [shown.index(part) for part in order]
    assert places == sorted(places)
    assert "{" not in shown, "preconditions are no Python"


def test_only_steps_that_were_taken_are_ticked() -> None:
    shown = read(fixes_view.message(STATES["stopped-in-step-2"]))
    for step, mark in zip(SEVERAL.steps, "✓✓–✓", strict=True):
        assert f"{mark} {step.says}" in shown, shown
