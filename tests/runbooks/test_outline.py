"""An outline is read without a finding: it marks unknown values, and leaves out statements that depend on them."""

from __future__ import annotations

import pytest

from runbooks.library import SECTIONS, Library
from runbooks.template import CannotRender, gaps, outline, render

STATES = """\
{% if state == "stopped" %}{% when "it is stopped" %}Start it.
{% elif state == "gone" %}{% when "it is gone" %}Make it anew.
{% else %}Wait.
{% endif %}
Then look."""
IN_SHELL = """\
```sh
{% if many %}{% when "there are many" %}
az a
{% else %}{% when "there is one" %}
az b
{% endif %}
az c
```"""
CONDITIONS = ("full", "not full", "full == 1", "n > 3", "not (n > 3)", "full and n", "full or n", "pools | length > 1")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{{ pool.name }}", "<pool.name>"),
        ("{{ a - b }} {{ 1 + a }} {{ a % 2 }}", "<a - b> <1 + a> <a % 2>"),
        ('{{ "%d" | format(n) }} {{ n | round }}', "<n> <n>"),
        ("{{ pods | length }}", "<number of pods>"),
        ("{% for p in pools %}{{ p.name }}{% endfor %}", "<pools.name>"),
        ("{{ names | join(', ') }}", "<names>"),
        ("{{ pools[0].id }}", "<pools.0.id>"),
        ("```sh\naz x '{{ a }}' {{ b | sh }}\n```", "```sh\naz x '<a>' <b>\n```"),
        ("{{ n - 1 if n else 0 }}", "<n - 1>"),
        ("{{ 0 if n else n }}", "<n>"),
        ("{{ 'Role' if n else 'ClusterRole' }}", "<Role or ClusterRole>"),
        ("{{ 1 / 0 }}", "{{ 1 / 0 }}"),
    ],
)
def test_what_is_not_known_is_shown_by_its_name(source: str, shown: str) -> None:
    assert outline(source) == shown


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_addition_that_hangs_on_an_unknown_fact_is_left_out(condition: str) -> None:
    assert outline(f"Look{{% if {condition} %}} at it{{% endif %}}.") == "Look."


def test_each_branch_stands_under_its_own_words() -> None:
    assert outline(STATES) == (
        "**If it is stopped:** Start it.\n\n**If it is gone:** Make it anew.\n\n**Otherwise:** Wait.\n\nThen look."
    ).join(("\n\n", ""))


def test_words_of_a_branch_are_a_comment_among_commands() -> None:
    shown = "```sh\n# if there are many:\naz a\n# if there is one:\naz b\naz c\n```"
    assert outline(IN_SHELL) == shown
    assert outline(IN_SHELL.replace('{% when "there is one" %}', "")) == shown.replace("if there is one", "otherwise")


@pytest.mark.parametrize("follows", ["```sh\naz a\n```", "- one\n- two", "1. one"])
def test_a_block_under_its_words_begins_on_a_line_of_its_own(follows: str) -> None:
    shown = outline(f'{{% if x %}}{{% when "it is so" %}}\n{follows}\n{{% endif %}}')
    assert shown.strip() == f"**If it is so:**\n{follows}"


@pytest.mark.parametrize(
    ("state", "shown"), [("stopped", "Start it.\n"), ("gone", "Make it anew.\n"), ("busy", "Wait.\n")]
)
def test_where_the_fact_is_known_one_branch_stands_without_words(state: str, shown: str) -> None:
    assert render(STATES, {"state": state}) == f"{shown}Then look."
    assert outline(STATES, {"state": state}) == f"{shown}Then look."


def test_a_branch_that_known_facts_rule_out_is_not_shown() -> None:
    source = '{% if a %}{% when "a" %}A\n{% elif b %}{% when "b" %}B\n{% elif c %}{% when "c" %}C\n{% endif %}'
    assert outline(source, {"a": False, "b": True}) == "B\n"
    assert outline(source, {"a": False}).split() == ["**If", "b:**", "B", "**If", "c:**", "C"]
    assert outline(source, {"b": False}).split() == ["**If", "a:**", "A", "**If", "c:**", "C"]


def test_to_ask_whether_a_fact_is_known_is_always_answered() -> None:
    source = "{% if full is not known %}Look.{% elif full %}Full.{% else %}Room.{% endif %}"
    assert [outline(source), outline(source, {"full": 1}), outline(source, {"full": 0})] == ["Look.", "Full.", "Room."]
    assert outline("{% if full is defined and full %}Full.{% else %}Look.{% endif %}") == "Look."
    assert outline("{% if full is undefined or full %}Look.{% endif %}") == "Look."


def test_a_finding_without_the_fact_is_wrong_also_where_it_is_only_asked_about() -> None:
    with pytest.raises(CannotRender, match="'full' is undefined"):
        render("{% if full is known %}Full.{% endif %}", {})


def test_what_is_made_from_an_unknown_fact_is_as_unknown() -> None:
    assert outline("{% for p in pools %}{{ p.id }}{% if p.bad %} is bad{% endif %}{% endfor %}") == "<pools.id>"
    assert outline("{% set bad = pools[0].bad %}{% if bad %}bad{% endif %}") == ""
    assert outline("{% set bad = 1 %}{% if bad %}bad{% endif %}") == "bad"
    assert outline("{% for n in [1, 2] %}{% if n > 1 %}{{ n }}{% endif %}{% endfor %}") == "2"
    assert outline("{% for n in [1, 2] if n == wanted %}{{ n }}{% else %}none{% endfor %}") == ""


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a\n{% if full %}Full.{% else %}Room.{% endif %}", 2),
        ("{% if a is known %}{% else %}{% if d %}D{% else %}E{% endif %}{% endif %}", 1),
        ('a\nb {% when "c" %}', 2),
        ('{% if full %}It {% when "it is full" %}is.{% endif %}', 1),
        ("a\n{{ n == 3 }}", 2),
        ("a\n\n{{ n | default('3') }}", 3),
        ("{% for a, b in pairs %}{{ a }}{% endfor %}", 1),
    ],
)
def test_a_hole_and_a_statement_about_what_is_not_known_are_found(source: str, line: int) -> None:
    assert [where for where, _ in gaps(source)] == [line]


@pytest.mark.parametrize("source", [STATES, IN_SHELL, "{% if full %}Full.{% endif %}", "{{ 1 if a is known else 2 }}"])
def test_a_right_outline_brings_no_complaint(source: str) -> None:
    assert gaps(source) == []


def test_no_page_states_in_its_outline_what_only_a_finding_knows() -> None:
    """The sentences that outlines stated while every condition counted as true."""
    library = Library.load()
    shown = {code: "\n".join(one.outline(section) for section in SECTIONS) for code, one in library.items()}
    for code, words in (
        ("subnet-full", "Nodes cannot be added until"),
        ("node-vm-failed", "is Succeeded, and its health probe fails"),
        ("pdb-blocks-drain", "So no pod of it may be moved"),
        ("resource-lock", "Nothing below it can be created"),
        ("private-cluster-unreachable", "could not be told"),
        ("service-port-mismatch", "they listen on {{"),
    ):
        assert words in "".join(library[code].sections.values())
        assert words not in shown[code]
    assert "1 of its pods" not in shown["kube-system-not-running"]
    assert "Pool `<name>` of" not in shown["provisioning-in-progress"]
    fix = library["node-not-ready"].outline("Fix")
    assert fix.count("**If ") == 12
    assert fix.index("**If Azure has no such machine:**") < fix.index("kubectl delete node <node>")
