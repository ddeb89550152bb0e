"""Writes the keys of the policy file into docs/policy.md: `make generate` calls it."""

from __future__ import annotations

from pathlib import Path

from bot.policy.reference import written_into

PAGE = Path(__file__).parent.parent / "docs" / "policy.md"


def main() -> None:
    PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
