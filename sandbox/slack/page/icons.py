"""Icons from static/icons.svg, which look the same regardless of installed fonts."""

from __future__ import annotations

import re
from pathlib import Path

from markupsafe import Markup

_SHEET = (Path(__file__).parent / "static" / "icons.svg").read_text(encoding="utf-8")

DRAWN = frozenset(re.findall(r'id="e-([a-z0-9_]+)"', _SHEET))
"""The emoji that have an icon; the others use the system's fonts."""


def icon(name: str, kind: str = "") -> Markup:
    return Markup(
        '<svg class="icon {}" aria-hidden="true"><use href="/static/icons.svg#{}"></use></svg>',
    ).format(kind, name)
