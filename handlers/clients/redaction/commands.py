"""Secrets that commands take by a short flag (`mysql -pX`, `curl -u name:X`), in a line or in a list of arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from handlers.clients.redaction.prose import is_plain_word
from handlers.clients.redaction.span import Span, is_marked, literal
from handlers.clients.secret_keys import PLAIN, kind_of_key, looks_harmless
from runbooks.linear import compile_linear


class Flags(NamedTuple):
    """The flags of one program: `attached` as in -pX, `apart` as in -p X, `pair` as in -u name:X, `cookies` as in -b
    n=X.

    `after`: only after this subcommand. `first`: the first argument is one.
    """

    attached: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    pair: tuple[str, ...] = ()
    after: str = ""
    cookies: tuple[str, ...] = ()
    first: bool = False


_MYSQL = Flags(attached=("-p",))
_LOGIN = Flags(attached=("-p",), apart=("-p",), after="login")
_LDAP = Flags(attached=("-w",), apart=("-w", "-s"))
_MONGO = Flags(apart=("-p",))
_SQL_SERVER = Flags(attached=("-P",), apart=("-P",))
_ADMIN = Flags(apart=("-p",))
_STORES = Flags(apart=tuple(f"-{prefix}{what}" for prefix in ("", "src", "dest") for what in ("storepass", "keypass")))
_SECURE_STRING = Flags(apart=("-String", "-string"), first=True)
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
    "curl": Flags(attached=("-u",), pair=("-u", "--user", "-U", "--proxy-user"), cookies=("-b", "--cookie")),
    **dict.fromkeys(("az sql", "az mysql", "az postgres", "az mariadb"), _ADMIN),
    "az keyvault": Flags(apart=("--value",), after="secret"),
    "keytool": _STORES,
    "convertto-securestring": _SECURE_STRING,
    "smbclient": Flags(pair=("-U", "--user")),
    "rabbitmqadmin": Flags(apart=("-p",)),
    "cqlsh": Flags(apart=("-p",)),
    "zip": Flags(apart=("-P",)),
    "unzip": Flags(apart=("-P",)),
    "7z": Flags(attached=("-p",)),
    "openssl": Flags(apart=("-k", "-K", "-passin", "-passout", "-pass")),
    "ssh-keygen": Flags(apart=("-N", "-P")),
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
_NAMES = frozenset(TRIGGERS)
_ANY = "|".join(map(literal, sorted(_NAMES - {"login"})))
_INNER = compile_linear(rf"(?:^|[\s\"'/;|&(])(?:{_ANY}|(?:az|acr|helm|oc|registry) login)[\s\"']")
"""A command inside an argument: `docker exec x sh -c 'mysql -pX'`."""
_PASSWORD_FLAGS = frozenset({"-password", "-passwd", "-pass"})


class Argument(NamedTuple):
    number: int
    start: int
    """Where the secret begins in that argument."""
    kind: str


def secret_arguments(arguments: Sequence[str], program: str = "") -> Iterator[Argument]:
    """Which arguments hold a secret. The first one that names a known program decides."""
    flags = _flags(program)
    subcommands = {program}
    for number, argument in enumerate(arguments):
        previous = arguments[number - 1] if number else ""
        name = argument.rpartition("/")[2]
        if known := _PROGRAMS.get(f"{previous} {name}") or _PROGRAMS.get(name):
            flags = known
        subcommands.add(argument)
        usable = flags if flags and (not flags.after or flags.after in subcommands) else Flags()
        if found := _secret(number, previous, argument, usable):
            yield found


def _flags(program: str) -> Flags | None:
    return _PROGRAMS.get(program.rpartition("/")[2])


def _secret(number: int, previous: str, name: str, flags: Flags) -> Argument | None:
    if _takes_a_pair(previous, flags):
        return _behind_colon(number, name, 0)
    if previous in flags.cookies and "=" in name:
        return Argument(number, name.index("=") + 1, "cookie")
    if previous in flags.apart and not name.startswith("-"):
        return Argument(number, 0, "password")
    if flags.first and number == 1 and name[:1] not in ("-", "$", "("):
        return Argument(number, 0, "password")
    # A flag contains no blank: `- rotate the admin token` is an item of a list that a person wrote.
    if previous.startswith("-") and not {" ", "="} & set(previous) and not name.startswith("-"):
        kind = kind_of_key(previous)
        return Argument(number, 0, kind) if kind not in ("", PLAIN, "kubeconfig") and len(previous) > 2 else None
    return _in_one(number, name, flags)


def _takes_a_pair(flag: str, flags: Flags) -> bool:
    """`-u`, and `-sSu`: letters in one argument, of which the last takes it."""
    if flag in flags.pair:
        return True
    return 2 < len(flag) < 9 and flag[0] == "-" and flag[1:].isalpha() and f"-{flag[-1]}" in flags.pair


def _behind_colon(number: int, name: str, since: int) -> Argument | None:
    if "://" in name:
        return None
    start = name.find("%" if "%" in name and ":" not in name else ":", since) + 1
    return Argument(number, start, "basic-auth") if 0 < start < len(name) else None


def _in_one(number: int, argument: str, flags: Flags) -> Argument | None:
    """Flag and value in one argument: `-pX`, `-p=X`, `--user=name:X`."""
    name, equals, text = argument.partition("=")
    if equals and text and name in flags.pair:
        return _behind_colon(number, argument, len(name))
    if equals and text and name in flags.apart:
        return Argument(number, len(name) + 1, "password")
    if name.lower() in _PASSWORD_FLAGS or argument.startswith("--") or argument in flags.apart or len(argument) < 4:
        return None
    flag = next((flag for flag in flags.attached if argument.startswith(flag)), "")
    if flag in flags.pair:
        return _behind_colon(number, argument, len(flag))
    return Argument(number, len(flag), "password") if flag else None


@lru_cache(maxsize=2048)
def in_list(arguments: tuple[str, ...], program: str = "") -> dict[int, tuple[int, str]]:
    """The arguments to redact: number → where its secret begins, and the kind."""
    return {
        argument.number: (argument.start, argument.kind)
        for argument in secret_arguments(arguments, program)
        if _is_secret(arguments[argument.number][argument.start :])
    }


def _is_secret(text: str) -> bool:
    return bool(text) and not (is_marked(text) or looks_harmless(text) or is_plain_word(text))


def in_line(text: str, start: int, trigger: str) -> tuple[list[Span], int]:
    """The secrets after the name of a program, up to the end of its command or the next program; and where that is."""
    begin = _word_start(text, start)
    program = text[begin:start] + trigger
    at = start + len(trigger)
    at += 4 if text.startswith(".exe", at) else 0
    if text[at : at + 1] not in _BETWEEN:
        # A name that only begins so: `mysql-prod-weu`.
        return [], at
    if program == "login":
        program = "docker"
    elif program not in _PROGRAMS:
        return [], at
    tokens = [(content, at + first, at + last) for content, first, last in _tokens(text[at : at + _LONGEST])]
    spans = []
    for number, offset, kind in secret_arguments([trigger, *(content for content, _, _ in tokens)], program):
        word, first, last = tokens[number - 1]
        if _is_secret(word[offset:]):
            spans.append(Span(first + offset, last, kind))
    return spans, _read_to(tokens, at)


def _read_to(tokens: list[tuple[str, int, int]], at: int) -> int:
    """Text before this position is not read again, except for a command inside the last argument."""
    if not tokens:
        return at
    text, first, last = tokens[-1]
    return first if _INNER.search(text) else last


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
        text, done = found[0], end
        if text in _ENDS or text.rpartition("/")[2] in _NAMES:
            return
        if text == "-" or text == "\\":
            continue
        if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'":
            text, start, end = text[1:-1], start + 1, end - 1
        elif text.rstrip("\"';,)") != text and text.count('"') % 2 == text.count("'") % 2 == 0:
            text = text.rstrip(";,)")
            end = start + len(text)
        yield text, start, end
        if _INNER.search(text):
            return


def _listed(window: str) -> Iterator[tuple[str, int, int]]:
    """The rest of a list: `", "-u", "name:X"]`."""
    opened = len(window) - len(window.lstrip("\\")) + 1
    for found in _LISTED.finditer(window[opened:]):
        group = 1 if found.start(1) >= 0 else 2
        if found[group].rpartition("/")[2] in _NAMES:
            return
        yield found[group], opened + found.start(group), opened + found.end(group)
        if _INNER.search(found[group]):
            return
