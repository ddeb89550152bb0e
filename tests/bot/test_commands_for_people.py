"""Commands in answers: short lines that a shell reads as the same command, and the subscription set once."""

from __future__ import annotations

import re
import shlex

import pytest

from bot.render.commands import LONGEST, for_people
from runbooks.library import SECTIONS, Library

SUB, OTHER = "8f2f0c9e-4c1d-4b57-9a55-2d1f6f0e7a10", "11111111-4c1d-4b57-9a55-2d1f6f0e7a10"
LONG = (
    f"az aks nodepool update --subscription {SUB} --resource-group 'a (b)' --cluster-name prod-weu --name apps "
    "--max-surge 0 --query \"[?name=='x --y | z'].{a: b}\""
)
SHOW = f"az aks show --subscription {SUB} --resource-group rg --name prod-weu"
PODS = "kubectl get pods --namespace shop"


SUBSCRIPTION = re.compile(r" --subscription '?<[a-z_-]+>'?")


def block(*commands: str, indent: str = "") -> str:
    return "\n".join([f"{indent}```sh", *(f"{indent}{command}" for command in commands), f"{indent}```"])


def lines(*commands: str) -> list[str]:
    return for_people(block(*commands)).split("\n")[1:-1]


def words(text: str) -> list[str]:
    return shlex.split(text.replace("\\\n", " "))


def test_a_long_command_breaks_at_its_options_and_stays_the_same_command() -> None:
    shown = lines(LONG)
    assert shown[0] == "az aks nodepool update \\"
    assert all(len(line) <= LONGEST for line in shown)
    assert all(line.endswith(" \\") for line in shown[:-1])
    assert words("\n".join(shown)) == words(LONG)


def test_a_short_command_stays_as_it_is() -> None:
    assert lines(PODS) == [PODS]


def test_several_commands_for_one_subscription_set_it_once() -> None:
    assert lines(SHOW, f"{SHOW} --output yaml", PODS) == [
        f"az account set --subscription {SUB}",
        "az aks show --resource-group rg --name prod-weu",
        "az aks show --resource-group rg --name prod-weu --output yaml",
        PODS,
    ]


@pytest.mark.parametrize(
    "commands",
    [
        (SHOW,),
        (SHOW, PODS),
        (SHOW, SHOW.replace(SUB, OTHER)),
        (SHOW, SHOW, "az account list"),
    ],
    ids=["one alone", "one beside kubectl", "two subscriptions", "one that names none"],
)
def test_where_that_could_mean_another_subscription_each_command_names_its_own(commands: tuple[str, ...]) -> None:
    shown = "\n".join(lines(*commands))
    assert "az account set" not in shown
    assert shown.count("--subscription") == sum(command.count("--subscription") for command in commands)


def test_each_block_can_be_copied_alone() -> None:
    text = for_people(f"{block(SHOW, SHOW)}\n\nOr:\n\n{block(SHOW, SHOW)}")
    assert text.count(f"az account set --subscription {SUB}") == 2


def test_another_subscription_inside_a_line_stays() -> None:
    other = f"az aks update --subscription {SUB} --name x --zone $(az zone list --subscription {OTHER} --query id)"
    shown = "\n".join(lines(SHOW, other))
    assert f"az account set --subscription {SUB}" in shown
    assert f"$(az zone list --subscription {OTHER} --query id)" in shown


def test_inside_a_list_the_block_keeps_its_margin() -> None:
    text = for_people(f"1. Do\n{block(LONG, indent='   ')}")
    assert all(line.startswith("   ") for line in text.split("\n")[1:])


@pytest.mark.parametrize(
    "text",
    [
        f"prose about {LONG}",
        f"```\n{LONG}\n```",
        f"```json\n{LONG}\n```",
        block("kubectl apply -f - <<EOF", LONG, "EOF"),
        block(f"{LONG} \\", "  --no-wait"),
        f"```sh\n{LONG}",
    ],
    ids=["prose", "no language", "json", "a document for a program", "laid out by hand", "a block without an end"],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert for_people(text) == text


def test_every_runbook_keeps_its_words() -> None:
    """Nothing is lost or added but `az account set` and the subscription that it sets."""
    library = Library.load()
    for code in library.explains:
        for section in SECTIONS:
            text = library[code].outline(section)
            shown = SUBSCRIPTION.sub("", for_people(text).replace(" \\\n", " ")).split()
            lost = SUBSCRIPTION.sub("", text).split()
            for word in shown:
                if lost and word == lost[0]:
                    lost.pop(0)
            assert lost == [], (code, section, lost[:5])
