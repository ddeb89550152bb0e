"""A text that is read once, from start to end."""

from __future__ import annotations

WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-$"
LINKS = ("<http://", "<https://", "<mailto:")
LONGEST_WORD = 80
"""Characters of a name that are looked at to the left and to the right of what makes it telling."""
SPACES = " \t\xa0\u200b\u202f\u3000"
"""In one line. Slack and word processors put spaces that do not break, or that have no width."""
_FAR = 400
_LONGEST_LINK = 2048


class Reading:
    """Forward searches that never scan the same letters twice, so that many searches cost as much as one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[str, tuple[int, int]] = {}

    def find(self, what: str, start: int) -> int:
        """As `str.find`."""
        since, at = self._found.get(what, (0, -2))
        if at != -2 and since <= start and (at == -1 or at >= start):
            return at
        at = self.text.find(what, start)
        self._found[what] = (start, at)
        return at

    def line_end(self, start: int) -> int:
        at = self.find("\n", start)
        return len(self.text) if at < 0 else at

    def line_before(self, start: int) -> str:
        """What stands before, in the same line; of a long one, its end."""
        return self.text[max(0, start - _FAR) : start].rpartition("\n")[2]

    def word_start(self, start: int) -> int:
        window = self.text[max(0, start - LONGEST_WORD) : start]
        return start - len(window) + len(window.rstrip(WORD))

    def word_end(self, start: int) -> int:
        window = self.text[start : start + LONGEST_WORD]
        return start + len(window) - len(window.lstrip(WORD))

    def spaces_end(self, start: int, spaces: str = SPACES) -> int:
        window = self.text[start : start + LONGEST_WORD]
        return start + len(window) - len(window.lstrip(spaces))

    def link_end(self, start: int) -> int:
        """The end of the address or label at this position (`<https://…|label>` in Slack), else the end of the text."""
        opened = self.text.rfind("<", max(0, start - _LONGEST_LINK), start)
        is_link = opened >= 0 and self.text.startswith(LINKS, opened)
        if not is_link or any(self.text.find(mark, opened, start) >= 0 for mark in "> \n"):
            return len(self.text)
        return min(at if (at := self.find(mark, start)) >= 0 else len(self.text) for mark in "|>")
