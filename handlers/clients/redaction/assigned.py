"""Secrets that stand behind a name: assignments, flags, headers, XML, netrc, `name`/`value` pairs, a sentence.

Each word that can be such a name is looked at once, with what stands right before and behind it.
"""

from __future__ import annotations

from handlers.clients.redaction import headers
from handlers.clients.redaction.reading import LONGEST_WORD, WORD, Reading
from handlers.clients.redaction.span import MARK, Span, is_marked
from handlers.clients.redaction.values import QUOTES, Value, bare_value, quote_at, quoted_value, value_at
from handlers.clients.secret_keys import LONGEST_HARMLESS, PLAIN, WHOLE_BRANCH, kind_of_key, looks_harmless, words
from runbooks.linear import compile_linear

STEMS = (
    "pass|pwd|pw|psw|secret|token|key|cred|sas|sig|auth|cookie|from-literal"
    "|conn(?:ection)?[ _.-]?str|kube[_.-]?config|(?:custom|user)[_.-]?data|docker[_.-]?c|protected[_.-]?settings"
)
"""What is in every telling name, in any case."""

_SEPARATORS = (":=", "=>", "===", "==", "=", ":", "%3D", "%3d", "%3A", "%3a")
_GUID = compile_linear(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TELLING = compile_linear(r"[\d~!@#$%^*+/=]")
_BESIDE = compile_linear(
    r"^[\s,]{0,8}(?:-[ \t]+)?[\s,]{0,60}\\{0,15}[\"']?(?:[Vv]alue|defaultValue|VALUE)\\{0,15}[\"']?\s{0,4}[:=]\s{0,4}"
)
_SENTENCE = compile_linear(
    r"(?i)^ {1,2}(?:(?:for|of|to)(?: [\w.@\\/'\"-]{1,40}){1,5} )?"
    r"(?:is|was|are|be|changed|reset|set|now)(?: (?:now|set|to)){0,2} {1,2}"
)
_LOGIN = compile_linear(r"(?i)(?:^|\s)(?:machine|login)\s+\S+\s+$")
_PROSE = compile_linear(r"(?i)\s(?:and|or|with|\+|/|&)\s+$")
_PAIR = compile_linear(r"^[A-Za-z]+=")
_NUMBERED = compile_linear(r"(?i)key\d+")
_CODED = compile_linear(r"(?i)^(?:base\d\d|sha-?\d+|md5|utf-?\d+|rsa|ed25519|aes|x509|oauth2?|v\d)\b")
_BEHIND_FLAG = compile_linear(r"^(?:[ \t]{1,16}|\\{0,15}[\"'][ \t]*,\s{0,60}|,[ \t]*|[ \t]*\n[ \t]*-[ \t]+)")
_BEHIND_QUOTED_FLAG = compile_linear(r"^\\{0,15}[\"'][ \t]+\\{0,15}[\"']")
_A_PATH = 80
"""Characters; `kubeconfig` names a file as often as it holds one, and no kubeconfig is as short as that."""
_XML_VALUE = compile_linear(r"^(?:[ \t\r\n][^<>]{0,200})?>\s*(?:<!\[CDATA\[)?")
_XML_BESIDE = compile_linear(r"^[\"'][^<>]{0,100}>\s*(?:<[vV]alue>)?")
_PLAIN_WORDS = words(
    "argument arguments flag flags option options parameter parameters value values and are as at but by can "
    "could for from has have if in is it may must no not of off on only or requires should that the to was "
    "when which will with "
)
"""What follows a flag of which somebody only speaks."""
_LONE = frozenset({"key", "keys", "string"})
SHORTEST = 3
_NOT_A_LABEL = 16


def assigned(reading: Reading, start: int, end: int) -> Span | None:
    """The secret that the word around [start:end] announces, if it announces one."""
    text = reading.text
    begin, stop = reading.word_start(start), reading.word_end(end)
    stop -= len(text[end:stop]) - len(text[end:stop].rstrip(".-"))
    name = text[begin:stop]
    if name.lower().startswith("--from-literal"):
        return _literal(reading, stop)
    kind = _kind(text, begin, name)
    if not kind:
        return None
    if text[begin - 1 : begin] == "<" and (span := _element(reading, stop, kind)):
        return span
    value = _value(reading, begin, stop, name, kind)
    names_a_file = name.startswith("-") or (value and not value.quoted and not value.alone)
    if not value or (kind == "kubeconfig" and names_a_file and value.end - value.start < _A_PATH):
        return None
    return _span(text, value, kind)


def _kind(text: str, begin: int, name: str) -> str:
    found = kind_of_key(name)
    if not found and name.lower() in _LONE and text[begin - 1 : begin] in (" ", "_"):
        before = text[max(0, begin - LONGEST_WORD) : begin - 1]
        found = kind_of_key((before[len(before.rstrip(WORD)) :] + name).lower())
    return "" if found == PLAIN else found


def _span(text: str, value: Value, kind: str) -> Span | None:
    said = text[value.start : value.end]
    return None if not said or is_marked(said) or looks_harmless(said) else Span(value.start, value.end, kind)


def _value(reading: Reading, begin: int, stop: int, name: str, kind: str) -> Value | None:
    text = reading.text
    at = _behind_quote(text, stop)
    at = reading.spaces_end(at)
    separator = next((one for one in _SEPARATORS if text.startswith(one, at)), "")
    if separator:
        return _assigned_value(reading, begin, at + len(separator), separator, kind)
    if kind in WHOLE_BRANCH or kind == "docker-auth":
        return None
    if name.startswith("-"):
        return _behind_flag(reading, stop)
    return _beside(reading, stop) or _in_a_sentence(reading, begin, stop, kind)


def _behind_quote(text: str, stop: int) -> int:
    quote = quote_at(text, stop)
    at = quote.end if quote else stop
    return at + 1 if text[at : at + 1] == "]" else at


def _assigned_value(reading: Reading, begin: int, at: int, separator: str, kind: str) -> Value | None:
    text, colon = reading.text, separator[0] == ":" or separator in ("%3A", "%3a")
    if kind in headers.KINDS and colon and (header := headers.value(reading, begin, at, kind)):
        return header
    at = reading.spaces_end(at)
    if not colon and quote_at(text, below := reading.spaces_end(at, " \t\r\n")):
        at = below
    value = value_at(reading, at, colon=colon)
    return value if value and _surely(reading, begin, value, kind, colon) else None


def _surely(reading: Reading, begin: int, value: Value, kind: str, colon: bool) -> bool:
    """Whether it is an assignment at all: behind a colon prose may follow ("token: expired on Monday")."""
    said = reading.text[value.start : value.end]
    if kind in WHOLE_BRANCH or kind == "docker-auth":
        return len(said) >= 12 and value.quoted
    if not colon:
        shortest = _NOT_A_LABEL if _names_little(reading, begin) else SHORTEST
        return len(said) >= shortest and not (said[0] == "/" and reading.text[begin : begin + 3] in ("PWD", "OLD"))
    if value.quoted:
        is_sentence = " " in said and len(said) <= LONGEST_HARMLESS and _text_before(reading, begin) not in QUOTES
        return kind == "password" or not is_sentence
    if value.alone or _fills_its_line(reading, begin, value):
        return True
    return (
        not _PAIR.match(said[:80])
        and not _GUID.fullmatch(said[:40])
        and (len(said) >= 20 or (len(said) >= 6 and bool(_TELLING.search(said))))
    )


def _text_before(reading: Reading, begin: int) -> str:
    return reading.text[max(0, begin - 1) : begin] or " "


def _names_little(reading: Reading, begin: int) -> bool:
    """`key1=value1` may be a label, `storage keys = POST` a remark."""
    name = reading.text[begin : reading.word_end(begin)]
    return name.lower() in _LONE or bool(_NUMBERED.fullmatch(name))


def _fills_its_line(reading: Reading, begin: int, value: Value) -> bool:
    after = reading.text[value.end : value.end + 200].partition("\n")[0]
    return not reading.line_before(begin).strip(" \t-\"'{") and not after.strip()


def _behind_flag(reading: Reading, stop: int) -> Value | None:
    """`--db-password X`, and the same in a list of arguments: `["--db-password", "X"]`, or one line each in YAML."""
    text = reading.text
    window = text[stop : stop + 100]
    if quoted := _BEHIND_QUOTED_FLAG.match(window):
        at = stop + len(quoted[0].rstrip("\\\"'"))
        quote = quote_at(text, reading.spaces_end(at)) if at > stop else None
        return quoted_value(reading, quote) if quote else None
    found = _BEHIND_FLAG.match(window)
    if not found:
        return None
    at = stop + found.end()
    if quote := quote_at(text, at):
        return quoted_value(reading, quote)
    value = bare_value(reading, at, colon=False) if text[at : at + 1] not in ("", "-", "\n") else None
    return None if value and text[value.start : value.end].lower() in _PLAIN_WORDS else value


def _literal(reading: Reading, stop: int) -> Span | None:
    """`kubectl create secret generic x --from-literal=name=X`."""
    at = stop + 1
    end = reading.word_end(at)
    if reading.text[stop : stop + 1] not in ("=", " ") or reading.text[end : end + 1] != "=":
        return None
    value = value_at(reading, end + 1, colon=False)
    return _span(reading.text, value, "secret") if value else None


def _beside(reading: Reading, stop: int) -> Value | None:
    """`name: DB_PASSWORD` with `value: X` behind it, in YAML, in JSON that was cut, in an XML attribute."""
    text = reading.text
    window = text[stop : stop + 260]
    if found := _BESIDE.match(window[len(window) - len(window.lstrip("\\\"'")) :]):
        at = stop + len(window) - len(window.lstrip("\\\"'")) + found.end()
        value = value_at(reading, at, colon=False) if text[at : at + 1] not in ("{", "[") else None
        return _whole_line(reading, value) if value and not value.quoted else value
    if window[:1] in ("'", '"') and (found := _XML_BESIDE.match(window)):
        at = stop + found.end()
        return _to_the_next_tag(reading, at)
    return None


def _whole_line(reading: Reading, value: Value) -> Value:
    """A plain text of YAML goes to the end of its line; in XML or JSON that end is further than the value's."""
    line = reading.text[value.start : reading.line_end(value.start)]
    has_more = any(mark in line for mark in "<>{}")
    return value if has_more else value._replace(end=max(value.end, value.start + len(line.rstrip())))


def _element(reading: Reading, stop: int, kind: str) -> Span | None:
    """`<password>X</password>`."""
    found = _XML_VALUE.match(reading.text[stop : stop + 260])
    value = _to_the_next_tag(reading, stop + found.end()) if found else None
    if not value or not (text := reading.text).startswith(("</", "]]>"), value.end):
        return None
    return _span(text, value, kind)


def _to_the_next_tag(reading: Reading, at: int) -> Value | None:
    end = reading.find("]]>" if reading.text.startswith("<![CDATA[", at - 9) else "<", at)
    end = len(reading.text) if end < 0 else end
    return Value(at, end, quoted=True) if end > at else None


def _in_a_sentence(reading: Reading, begin: int, stop: int, kind: str) -> Value | None:
    """`password is hunter2`, `requirepass hunter2`, `login bob password hunter2`, `PASSWORD 'hunter2'`."""
    text = reading.text
    if text[stop : stop + 1] not in (" ", "\t", "\n"):
        return None
    if found := _SENTENCE.match(text[stop : stop + 120]):
        return _said(reading, stop + found.end())
    if kind != "password":
        # A Secret and a token have names, which people quote: `secret "web-tls" not found`.
        return None
    at = reading.spaces_end(stop, " \t\r\n")
    if quote := quote_at(text, at):
        return quoted_value(reading, quote) if text[stop] == " " and quote.mark in QUOTES else None
    before = text[max(0, begin - 160) : begin]
    if text[begin:stop].lower() in ("requirepass", "masterauth") or (
        _LOGIN.search(before) and not _PROSE.search(before)
    ):
        return bare_value(reading, at, colon=False)
    return None


def _said(reading: Reading, at: int) -> Value | None:
    """What somebody calls a password; not how it is ("password is incorrect", "is case-sensitive")."""
    if quote := quote_at(reading.text, at):
        quoted = quoted_value(reading, quote)
        return quoted if quoted.end - quoted.start >= SHORTEST else None
    value = bare_value(reading, at, colon=False)
    said = reading.text[value.start : value.end] if value else ""
    return value if len(said) >= 6 and _looks_chosen(said) else None


def _looks_chosen(said: str) -> bool:
    has_digit = any(letter.isdigit() for letter in said)
    has_letter = any(letter.isalpha() for letter in said)
    has_sign = any(letter in "!@#$%^&*~+=?" for letter in said)
    return has_letter and (has_digit or has_sign) and not _CODED.match(said) and not said.startswith(MARK)
