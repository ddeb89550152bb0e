"""Runbooks are filled in strictly, in a sandbox, and so that a command can be pasted into a shell."""

from __future__ import annotations

import subprocess
from string import printable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runbooks.template import CannotRender, check, render


def in_shell(command: str, **facts: object) -> str:
    """The command line as rendered in a shell block."""
    return render(f"```sh\n{command}\n```\n", facts).split("\n")[1]


def test_a_plain_value_is_not_quoted() -> None:
    assert in_shell("az aks show --name {{ name }}", name="prod-weu") == "az aks show --name prod-weu"


def words_in_a_shell(line: str) -> list[str]:
    """What /bin/sh makes of the words of a command line."""
    ran = subprocess.run(["/bin/sh", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
    return ran.stdout.decode().split("\0")[:-1]


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=printable.replace("\n", "").replace("\r", ""), max_size=30))
def test_any_value_reaches_the_command_as_one_word(value: str) -> None:
    command = "x {{ v }} '<{{ v }}>' \"[?name=='{{ v }}']\" y # don't"
    expected = ["x", value, f"<{value}>", f"[?name=='{value}']", "y"]
    assert words_in_a_shell(in_shell(command, v=value)) == expected


def test_a_shell_runs_nothing_that_a_value_holds() -> None:
    evil = 'a\'; echo pwned; "$(echo pwned)" `echo pwned`'
    assert words_in_a_shell(in_shell("{{ v }} '{{ v }}' \"{{ v }}\"", v=evil)) == [evil] * 3


def test_a_list_is_quoted_one_by_one() -> None:
    assert in_shell("az lock delete --ids {{ ids | sh }}", ids=["/a (b)", "/c"]) == "az lock delete --ids '/a (b)' /c"


def test_nothing_is_quoted_outside_of_shell_blocks() -> None:
    assert render("group {{ g }}\n\n```json\n{{ g }}\n```\n{{ g }}", {"g": "a (b)"}).count("'") == 0


def test_quoting_ends_with_the_block_also_behind_a_loop() -> None:
    text = "```sh\n{% for x in xs %}\nuse {{ x }}\n{% endfor %}\n```\n{{ xs[0] }}"
    assert render(text, {"xs": ["a b"]}) == "```sh\nuse 'a b'\n```\na b"


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("a\n{% if x %}\nb", 3, "template"),
        ("a\nb\n{{ x | nonsense }}", 3, "nonsense"),
        ("{{ x is nonsense }}", 1, "nonsense"),
        ("{{ x", 1, "template"),
    ],
)
def test_what_can_never_render_is_refused_by_line(source: str, line: int, what: str) -> None:
    with pytest.raises(CannotRender, match=what) as refused:
        check(source)
    assert refused.value.line == line


@pytest.mark.parametrize(
    "source", ["{{ ''.__class__.__mro__ }}", "{{ x.append(1) }}", "{{ 1 / 0 }}", "{{ 'a' + 1 }}", "{{ x.y }}"]
)
def test_what_goes_wrong_while_rendering_is_one_kind_of_error(source: str) -> None:
    with pytest.raises(CannotRender):
        render(source, {"x": []})
