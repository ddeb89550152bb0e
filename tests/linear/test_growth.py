"""The measurement itself: it must detect nonlinear growth."""

from __future__ import annotations

import re

from tests.linear.growth import all_not_linear, shapes, too_dear

MAIL = re.compile(
    r"(?<![\w.%+#@-])(?!git@)[A-Za-z0-9._%+#-]+(?:'[A-Za-z0-9._%+#-]+)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b"
)
BASE64 = re.compile(r"[A-Za-z0-9+/\s]{40,}={0,2}\s*")
"""Two patterns that once blocked the process: email addresses, and possible base64."""


def test_a_quadratic_search_is_seen() -> None:
    assert "letters and quotes" in all_not_linear(lambda text: list(MAIL.finditer(text)))


def test_a_quadratic_match_over_white_space_is_seen() -> None:
    assert "blanks" in all_not_linear(BASE64.fullmatch)


def test_what_is_linear_is_called_so() -> None:
    assert all_not_linear(lambda text: [letter for letter in text if letter == "x"]) == {}


def test_a_huge_constant_is_seen() -> None:
    def looks_far_ahead(text: str) -> object:
        return [sum(map(ord, text[at : at + 6000])) for at in range(len(text))]

    assert too_dear(looks_far_ahead, shapes()["letters"])
    assert not too_dear(str.split, shapes()["letters"])
