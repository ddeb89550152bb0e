"""What is said to somebody who just talks to the bot."""

from __future__ import annotations

from bot.slack.kit.escaping import plain

NOT_UNDERSTOOD = "I do not understand that. Name a cluster, or paste an error."
HELP, CHOOSE = "Help", "Choose a cluster"


def which(number: int) -> str:
    return "Which of these do you mean?" if number > 1 else "Do you mean this one?"


def no_fleet(what: str, why: str) -> str:
    return f"I cannot tell whether that names a cluster: {plain(f'{what} ({why})', 300)}. Try again in a minute."
