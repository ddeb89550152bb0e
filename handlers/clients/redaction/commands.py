"""Secrets that commands take by a short flag (`mysql -pX`, `curl -u name:X`), in a line or in a list of arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from handlers.clients.redaction.span import Span, is_marked
from handlers.clients.secret_keys import PLAIN, kind_of_key, looks_harmless
from runbooks.linear import compile_linear


class Flags(NamedTuple):
    """What a program takes: `attached` as in -pX, `apart` as in -p X, `pair` as in -u name:X. `after`: a subcommand."""

    attached: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    after: str = ""


_MYSQL = Flags(attached=("-p",))
_LOGIN = Flags(apart=("-p",), after="login")
_LDAP = Flags(attached=("-w",), apart=("-w", "-s"))
_MONGO = Flags(apart=("-p",))
_SQL_SERVER = Flags(attached=("-P",), apart=("-P",))
_PROGRAMS = {
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mysqlshow"), _MYSQL),
    **dict.fromkeys(("mariadb", "mariadb-dump", "mariadb-admin"), _MYSQL),
    **dict.fromkeys(("az", "docker", "podman", "nerdctl", "buildah", "skopeo", "oras", "helm", "crane", "oc"), _LOGIN),
    **dict.fromkeys(("ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"), _LDAP),
    **dict.fromkeys(("mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"), _MONGO),
    **dict.fromkeys(("sqlcmd", "bcp", "osql", "tsql", "ipmitool"), _SQL_SERVER),
    **dict.fromkeys(("redis-cli", "valkey-cli"), Flags(apart=("-a",))),
    **dict.fromkeys(("http", "https"), Flags(pair=("-a", "--auth"))),
    "sshpass": Flags(attached=("-p",), apart=("-p",)),
    "curl": Flags(attached=("-u",), pair=("-u", "--user", "-U", "--proxy-user")),
    "smbclient": Flags(pair=("-U", "--user")),
    "rabbitmqadmin": Flags(apart=("-p",)),
    "cqlsh": Flags(apart=("-p",)),
    "zip": Flags(apart=("-P",)),
    "unzip": Flags(apart=("-P",)),
    "7z": Flags(attached=("-p",)),
    "openssl": Flags(apart=("-k", "-K", "-passin", "-passout", "-pass")),
    "snmpget": Flags(apart=("-A", "-X")),
    "snmpwalk": Flags(apart=("-A", "-X")),
}
TRIGGERS = tuple(sorted((set(_PROGRAMS) - {"az", "http", "https", "oc", "zip", "7z", "helm"}) | {"login"}, key=len))[
    ::-1
]
"""`login` stands for every program that has it; names that are ordinary words are told by it."""
_TOKEN = compile_linear(r"(?:[^\s\"'\\]|\\.|\"(?:[^\"\\]|\\.)*\"|'[^']*')+|[\"'\\]")
_LISTED = compile_linear(r"\\*\"((?:[^\"\\]|\\[^\"])*)\\*\"|'([^'\n]*)'")
_LONGEST = 1500
_BETWEEN = (" ", "\t", "\n", '"', "'", ",", "\\")
_ENDS = frozenset({"|", "||", "&&", ";", "&"})


class Argument(NamedTuple):
    number: int
    start: int
    """Where the secret begins in that argument."""
    kind: str


def secret_arguments(arguments: Sequence[str], program: str = "") -> Iterator[Argument]:
    """Which arguments hold a secret. The first that names a known program is it."""
    flags = _flags(program)
    subcommands = {program}
    for number, one in enumerate(arguments):
        previous = arguments[number - 1] if number else ""
        if known := _PROGRAMS.get(one.rpartition("/")[2]):
            flags = known
        subcommands.add(one)
        usable = flags if flags and (not flags.after or flags.after in subcommands) else Flags()
        if found := _secret(number, previous, one, usable):
            yield found


def _flags(program: str) -> Flags | None:
    return _PROGRAMS.get(program.rpartition("/")[2])


def _secret(number: int, previous: str, one: str, flags: Flags) -> Argument | None:
    if previous.startswith("-") and previous in flags.pair:
        start = one.find("%" if "%" in one and ":" not in one else ":") + 1
        return Argument(number, start, "basic-auth") if 0 < start < len(one) else None
    if previous.startswith("-") and previous in flags.apart and not one.startswith("-"):
        return Argument(number, 0, "password")
    if previous.startswith("-") and "=" not in previous and not one.startswith("-"):
        kind = kind_of_key(previous)
        return Argument(number, 0, kind) if kind not in ("", PLAIN, "kubeconfig") and len(previous) > 2 else None
    for flag in flags.attached:
        if one.startswith(flag) and len(one) > 3 and not one.startswith("--"):
            start = one.find(":") + 1 if flag in flags.pair else len(flag)
            return Argument(number, start, "password") if start and one not in flags.apart else None
    return None


@lru_cache(maxsize=2048)
def in_list(arguments: tuple[str, ...], program: str = "") -> dict[int, tuple[int, str]]:
    """The arguments to redact: number → where its secret begins, and the kind."""
    return {
        one.number: (one.start, one.kind)
        for one in secret_arguments(arguments, program)
        if _is_secret(arguments[one.number][one.start :])
    }


def _is_secret(said: str) -> bool:
    return bool(said) and not is_marked(said) and not looks_harmless(said)


def in_line(text: str, start: int, trigger: str) -> list[Span]:
    """The secrets behind the name of a program, to the end of its command or to the next program."""
    begin = _word_start(text, start)
    program = text[begin:start] + trigger
    at = start + len(trigger)
    if trigger == "login" and program == "login" and text[at : at + 1] in _BETWEEN:
        program = "docker"
    elif program not in _PROGRAMS:
        return []
    window = text[at : at + _LONGEST]
    tokens = [(said, at + begin, at + end) for said, begin, end in _tokens(window)]
    arguments = [trigger, *(said for said, _, _ in tokens)]
    spans = []
    for number, offset, kind in secret_arguments(arguments, program):
        said, first, last = tokens[number - 1]
        if _is_secret(said[offset:]):
            spans.append(Span(first + offset, last, kind))
    return spans


def _word_start(text: str, start: int) -> int:
    head = text[max(0, start - 20) : start]
    return start - len(head) + len(head.rstrip("abcdefghijklmnopqrstuvwxyz0123456789-_"))


def _tokens(window: str) -> Iterator[tuple[str, int, int]]:
    """Words with their places, without the quotes around them. Ends with the command."""
    if window[:1] in ("'", '"') or window[:2] == '\\"':
        yield from _listed(window)
        return
    done = 0
    for found in _TOKEN.finditer(window):
        gap = window[done : found.start()]
        if "\n" in gap and not gap.lstrip(" \t").startswith("\\") and not window[found.start() :].startswith("- "):
            return
        start, end = found.span()
        said, done = found[0], end
        if said in _ENDS or said in TRIGGERS:
            return
        if said == "-" or said == "\\":
            continue
        if len(said) > 2 and said[0] == said[-1] and said[0] in "\"'":
            said, start, end = said[1:-1], start + 1, end - 1
        elif said.rstrip("\"';,)") != said and said.count('"') % 2 == said.count("'") % 2 == 0:
            said = said.rstrip(";,)")
            end = start + len(said)
        yield said, start, end


def _listed(window: str) -> Iterator[tuple[str, int, int]]:
    """The rest of a list: `", "-u", "name:X"]`."""
    opened = len(window) - len(window.lstrip("\\")) + 1
    for found in _LISTED.finditer(window[opened:]):
        group = 1 if found.start(1) >= 0 else 2
        yield found[group], opened + found.start(group), opened + found.end(group)
