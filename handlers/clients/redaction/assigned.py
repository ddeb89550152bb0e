"""Secrets that follow a name: assignments, flags, headers, XML, netrc, `name`/`value` pairs, sentences.

Each word that can be such a name is examined once, with what stands right before and after it.
"""

from __future__ import annotations

from handlers.clients.redaction import headers
from handlers.clients.redaction.prose import (
    SHORTEST_WORD,
    is_like_a_name,
    is_long_sentence,
    is_plain_word,
    is_reference,
    is_state,
    is_typed,
    looks_chosen,
    says_what_failed,
)
from handlers.clients.redaction.reading import LONGEST_WORD, WORD, Reading
from handlers.clients.redaction.span import Span, is_marked
from handlers.clients.redaction.values import QUOTES, Value, bare_value, quote_at, quoted_value, value_at
from handlers.clients.secret_keys import LONGEST_HARMLESS, PLAIN, WHOLE_BRANCH, kind_of_key, looks_harmless
from runbooks.linear import compile_linear

STEMS = (
    "pass|pwd|pw|psw|secret|token|key|cred|sas|sig|auth|cookie|from-literal"
    "|conn(?:ection)?[ _.-]?str|kube[_.-]?config|(?:custom|user)[_.-]?data|docker[_.-]?c|protected[_.-]?settings"
)
"""What is in every telling name, in any case."""

_SEPARATORS = (":=", "=>", "===", "==", "=", ":", "%3D", "%3d", "%3A", "%3a", "\uff1a")
_ARROWS = ("->", "\u2192", "\u2013", "\u2014")
"""They need a space before them: `$this->password->hash()` assigns nothing."""
_GUID = compile_linear(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TELLING = compile_linear(r"[\d~!@#$%^*+/=]")
_BESIDE = compile_linear(
    r"^[\s,]{0,8}(?:-[ \t]+)?[\s,]{0,60}\\{0,15}[\"']?(?:[Vv]alue|defaultValue|VALUE)\\{0,15}[\"']?\s{0,4}[:=]\s{0,4}"
)
_SENTENCE = compile_linear(
    r"(?i)^ {1,2}(?:(?:for|of|to)(?: [\w.@\\/'\"-]{1,40}){1,5} )?"
    r"(?:is|was|are|be|changed|reset|set|now)(?: (?:now|set|to)){0,2}:? {1,2}[*_]?"
)
_FOR_WHOM = compile_linear(r"(?i)^ {1,2}(?:for|of)(?: [\w.@\\/'\"-]{1,40}){1,5}: {1,2}")
_LOGIN = compile_linear(r"(?i)(?:^|\s)(?:machine|login)\s+[^\s,;:]+\s+$")
_SETS = compile_linear(r"(?:^|\s)(?:ENV|setenv)[ \t]+$")
_BRACKET_OF_PREFIX = compile_linear(r"<[\w-]{1,30}:$")
_PORT = compile_linear(r"^\d{1,5}(?:[^\w.]|$)")
_DOCKER_AUTH = compile_linear(r"[A-Za-z0-9+/]{12,}={0,2}")
_VARIABLE = compile_linear(r"\$[A-Za-z_][A-Za-z_]*")
_MARKUP = ("*", "_", "~", "`")
_PROSE = compile_linear(r"(?i)\s(?:and|or|with|\+|/|&)\s+$")
_PAIR = compile_linear(r"^[A-Za-z]+=")
_NUMBERED = compile_linear(r"(?i)key\d+")
_BEHIND_FLAG = compile_linear(r"^(?:[ \t]{1,16}|\\{0,15}[\"'][ \t]*,\s{0,60}|,[ \t]*|[\"']?[ \t]*\n[ \t]*-[ \t]+)")
_BEHIND_QUOTED_FLAG = compile_linear(r"^\\{0,15}[\"'][ \t]+\\{0,15}[\"']")
_A_PATH = 80
"""Characters; `kubeconfig` names a file as often as it holds one, and no kubeconfig is as short as that."""
_COMPOUND = compile_linear(r"(?i)[a-z]+(?:[_-][a-z]+){0,3}(?:[_-](?:key|secret|token|credential)|api-?key)")
_XML_VALUE = compile_linear(r"^(?:[ \t\r\n][^<>]{0,200})?>\s*(?:<!\[CDATA\[)?")
_XML_BESIDE = compile_linear(r"^[\"'][^<>]{0,100}>\s*(?:<[vV]alue>)?")
_VERBS = frozenset({"pass", "key", "auth"})
_LONE = frozenset({"key", "keys", "string"})
_REFERS = frozenset({"secret", "secrets", "credential", "credentials", "secretname"})
SHORTEST = 3
_NOT_A_LABEL = 16


def assigned(reading: Reading, start: int, end: int) -> Span | None:
    """The secret that the word at [start:end] names, if it names one."""
    text = reading.text
    begin, stop = reading.word_start(start), reading.word_end(end)
    if text[begin - 1 : begin] == "\\" and text[begin] in "nrt" and begin < start:
        # The end of a line or a tab, escaped.
        begin += 1
    stop -= len(text[end:stop]) - len(text[end:stop].rstrip(".-"))
    name = text[begin:stop]
    if name.lower().startswith("--from-literal"):
        return _literal(reading, stop)
    kind = _kind(text, begin, name)
    if not kind:
        return None
    if _is_element(text, begin) and (span := _element(reading, stop, kind)):
        return span
    value = _value(reading, begin, stop, name, kind)
    names_a_file = name.startswith("-") or (
        value and (text.startswith("/", value.start) or not (value.quoted or value.alone))
    )
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
    content = text[value.start : value.end]
    return None if not content or is_marked(content) or looks_harmless(content) else Span(value.start, value.end, kind)


def _value(reading: Reading, begin: int, stop: int, name: str, kind: str) -> Value | None:
    text = reading.text
    behind = _behind_quote(text, begin, stop)
    at = reading.spaces_end(behind)
    separator = _separator(reading, begin, behind, at)
    if separator and _is_of_an_address(reading, begin, behind, at + len(separator)):
        return None
    if separator:
        return _assigned_value(reading, begin, at + len(separator), separator, kind)
    if kind in WHOLE_BRANCH or kind == "docker-auth":
        return None
    if name.startswith("-"):
        return _behind_flag(reading, stop)
    return _beside(reading, stop) or _in_a_sentence(reading, begin, behind, kind)


def _separator(reading: Reading, begin: int, behind: int, at: int) -> str:
    text = reading.text
    found = next((separator for separator in _SEPARATORS if text.startswith(separator, at)), "")
    if found or at == behind:
        return found
    if text[at : at + 1] == "|" and reading.line_before(begin).rstrip(" \t*_`").endswith("|"):
        return "|"
    return next((arrow for arrow in _ARROWS if text.startswith(arrow, at)), "")


def _is_of_an_address(reading: Reading, begin: int, behind: int, at: int) -> bool:
    """A host with its port (`//external-secrets.svc:443`), or a path in quotes (`Post "https://h/oauth2/token": …`)."""
    text, before = reading.text, reading.text[begin - 1 : begin]
    if before == "/" and text[begin - 2 : begin] == "//":
        return bool(_PORT.match(text[at : at + 7]))
    is_quoted = text[behind - 1 : behind] in ("'", '"')
    return before == "/" and is_quoted and "://" in reading.line_before(begin).rpartition(text[behind - 1])[2]


def _behind_quote(text: str, begin: int, stop: int) -> int:
    """After a closing quote, or after the stars of `*password* X`."""
    before, after = text[begin - 1 : begin], text[stop : stop + 1]
    if after and after == before and after in _MARKUP:
        return stop + 1
    quote = quote_at(text, stop)
    at = quote.end if quote else stop
    return at + 1 if text[at : at + 1] == "]" else at


def _assigned_value(reading: Reading, begin: int, at: int, separator: str, kind: str) -> Value | None:
    text, colon = reading.text, separator[0] in ":|\uff1a" or separator in ("%3A", "%3a", *_ARROWS)
    if kind in headers.KINDS and colon and (header := headers.value(reading, begin, at, kind)):
        return header
    if text[at : at + 1] in _MARKUP and text[at : at + 1] == text[begin - 1 : begin]:
        # The stars of `*password:* X`.
        at += 1
    at = reading.spaces_end(at)
    if not colon and quote_at(text, below := reading.spaces_end(at, " \t\r\n")):
        at = below
    value = value_at(reading, at, colon=colon)
    return value if value and _surely(reading, begin, value, kind, colon) else None


def _surely(reading: Reading, begin: int, value: Value, kind: str, colon: bool) -> bool:
    """Whether it is an assignment at all: prose may follow a colon ("token: expired on Monday")."""
    text = reading.text[value.start : value.end]
    if kind in WHOLE_BRANCH or kind == "docker-auth":
        return _is_whole(text, kind) and value.quoted
    if kind != "password" and (text.startswith(("\\n", "\\t")) or _is_a_name_in_brackets(reading.text, value)):
        return False
    if is_reference(text, kind) and _is_alone(reading, begin):
        return False
    if not colon:
        shortest = _NOT_A_LABEL if _names_little(reading, begin) else SHORTEST
        return len(text) >= shortest and not (text[0] == "/" and reading.text[begin : begin + 3] in ("PWD", "OLD"))
    if value.quoted:
        is_remark = bool(reading.line_before(begin).strip(" \t-")) and _text_before(reading, begin) not in QUOTES
        if is_remark and is_long_sentence(text[:LONGEST_HARMLESS]):
            return False
        is_sentence = " " in text and len(text) <= LONGEST_HARMLESS and _text_before(reading, begin) not in QUOTES
        return kind == "password" or not is_sentence
    if value.alone:
        first = value.start + len(text.split(None, 1)[0])
        return kind == "password" or not says_what_failed(reading.text, value.start, first, kind)
    if says_what_failed(reading.text, value.start, value.end, kind):
        return False
    if _fills_its_line(reading, begin, value) or (kind == "password" and _ends_its_line(reading, value)):
        return True
    return (
        not _PAIR.match(text[:80])
        and not _GUID.fullmatch(text[:40])
        and (len(text) >= 20 or (len(text) >= 6 and bool(_TELLING.search(text))))
    )


def _is_whole(text: str, kind: str) -> bool:
    return len(text) >= 12 and (kind != "docker-auth" or bool(_DOCKER_AUTH.fullmatch(text.rstrip("\\"))))


def _is_a_name_in_brackets(text: str, value: Value) -> bool:
    """`Get secret:[tunnelfront]`."""
    content = text[value.start : value.end]
    return text.endswith(":[", 0, value.start) and content.isalpha() and content.islower()


def _is_alone(reading: Reading, begin: int) -> bool:
    """`secret: web-tls`, but not `client_secret: web-tls`."""
    return reading.text[begin : reading.word_end(begin)].strip(".-").lower() in _REFERS


def _ends_its_line(reading: Reading, value: Value) -> bool:
    """A single word after `password:` at the end of a message that a person typed."""
    text, after = reading.text[value.start : value.end], reading.text[value.end : value.end + 200].partition("\n")[0]
    is_word = len(text) >= SHORTEST_WORD and text.isalpha() and not is_state(text) and not text.endswith(("ed", "ing"))
    return is_word and not after.strip(" \t\r")


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
    return None if value and _is_remark(text, stop, text[value.start : value.end]) else value


def _is_remark(text: str, stop: int, content: str) -> bool:
    """A remark about a flag, or a variable as the value of a PowerShell flag."""
    flag = text[max(0, stop - LONGEST_WORD) : stop].rpartition(" ")[2]
    if flag[:2] != "--" and _VARIABLE.fullmatch(content):
        return True
    return not looks_chosen(content) if flag.lower().endswith(("credential", "credentials")) else is_plain_word(content)


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
    """A plain YAML scalar goes to the end of its line; in XML or JSON the line goes on after the value."""
    line = reading.text[value.start : reading.line_end(value.start)]
    has_more = any(mark in line for mark in "<>{}")
    return value if has_more else value._replace(end=max(value.end, value.start + len(line.rstrip())))


def _is_element(text: str, begin: int) -> bool:
    """`<password`, `<ns:password`, `&lt;password`."""
    if text[begin - 1 : begin] == "<" or text.endswith("&lt;", 0, begin):
        return True
    return text[begin - 1 : begin] == ":" and bool(_BRACKET_OF_PREFIX.search(text[max(0, begin - 32) : begin]))


def _element(reading: Reading, stop: int, kind: str) -> Span | None:
    """`<password>X</password>`."""
    if reading.text.startswith("&gt;", stop):
        end = reading.find("&lt;", stop)
        return _span(reading.text, Value(stop + 4, end if end >= 0 else reading.line_end(stop)), kind)
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
    if text[stop : stop + 1] not in (" ", "\t", "\n", "\xa0"):
        return None
    window = text[stop : stop + 120]
    is_for_whom = kind == "password" and window.startswith((" for ", " of "))
    found = _SENTENCE.match(window)
    if found or (found := _FOR_WHOM.match(window) if is_for_whom and ": " in window else None):
        return _said(reading, stop + found.end(), kind)
    if "env" in (just_before := text[max(0, begin - 20) : begin]).lower() and _SETS.search(just_before):
        return value_at(reading, reading.spaces_end(stop), colon=False)
    if kind != "password":
        # A Secret and a token have names, which people quote: `secret "web-tls" not found`.
        return _behind_compound(reading, begin, stop)
    at = reading.spaces_end(stop, " \t\r\n")
    if quote := quote_at(text, at):
        return quoted_value(reading, quote) if text[stop] == " " and quote.mark in QUOTES else None
    before = text[max(0, begin - 160) : begin]
    if text[begin:stop].lower() in ("requirepass", "masterauth") or _follows_a_login(before):
        value = bare_value(reading, at, colon=False)
        return None if value and is_plain_word(text[value.start : value.end]) else value
    if text[begin:stop].lower() in _VERBS or (text[stop - 1] in QUOTES and text[begin - 1] != text[stop - 1]):
        return None
    value = bare_value(reading, reading.spaces_end(stop), colon=True)
    return value if value and is_typed(text[value.start : value.end]) else None


def _follows_a_login(before: str) -> bool:
    """As in netrc: `machine h login u password X`."""
    low = before.lower()
    is_login = ("login" in low or "machine" in low) and _LOGIN.search(before)
    return bool(is_login) and not _PROSE.search(before)


def _behind_compound(reading: Reading, begin: int, stop: int) -> Value | None:
    """`client_secret X`: a compound name is no word of ordinary prose."""
    text = reading.text
    if not _COMPOUND.fullmatch(text[begin:stop]):
        return None
    value = bare_value(reading, reading.spaces_end(stop), colon=True)
    return value if value and is_typed(text[value.start : value.end]) else None


def _said(reading: Reading, at: int, kind: str) -> Value | None:
    """The value that a person calls a password, not a description ("password is incorrect", "is case-sensitive")."""
    if quote := quote_at(reading.text, at):
        quoted = quoted_value(reading, quote)
        return quoted if quoted.end - quoted.start >= SHORTEST else None
    value = bare_value(reading, at, colon=False)
    text = reading.text[value.start : value.end] if value else ""
    is_name = kind != "password" and is_like_a_name(text)
    return value if len(text) >= SHORTEST_WORD and looks_chosen(text) and not is_name else None
