"""Decompression bombs are rejected with a clear message, within 100 MB and one second of CPU time."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.runbooks.test_yaml_text import LAUGHS

MOST_MB, MOST_S = 100, 1.0
ORDINARY_MB, ORDINARY_S = 305, 3.0
"""What `aksbot replay` takes for a recording of 5,000 nodes and 150,000 pods, beyond its start (measured)."""
GIGABYTES = 3_000_000_000
HEAD = b'{"recorded_at": "2026-11-18T09:00:00Z", "calls": [], "more": '


@dataclass(frozen=True)
class Ran:
    """What a command said, and what it took."""

    exit: int
    said: str
    rss_mb: float
    cpu_s: float


def run(*arguments: str | Path) -> Ran:
    command = [str(Path(sys.executable).with_name("aksbot")), *map(str, arguments)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.stdout is not None
    said = child.stdout.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    return Ran(child.returncode, said, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


def costs(bomb: Ran, harmless: Ran) -> None:
    """What the refusal took beyond what starting the command takes."""
    assert bomb.rss_mb - harmless.rss_mb < MOST_MB
    assert bomb.cpu_s - harmless.cpu_s < MOST_S


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The same command, with a recording that is refused for a plain reason."""
    file = tmp_path_factory.mktemp("nothing") / "nothing.json"
    file.write_text("{}")
    return run("replay", file)


def zipped(file: Path, pieces: Iterator[bytes], packing: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(file, "w", packing) as archive, archive.open("recording.json", "w") as out:
        out.writelines(pieces)


def repeated(piece: bytes, size: int) -> Iterator[bytes]:
    block = piece * ((1 << 20) // len(piece))
    yield HEAD
    for _ in range(size // len(block)):
        yield block


def deflated_zip(file: Path, packed: bytes, declared: int) -> None:
    """Written by hand, so that three gigabytes need not be packed."""
    name = b"recording.json"
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 33, 0, len(packed), declared, len(name), 0) + name
    entry = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 8, 0, 33, 0, len(packed), declared, len(name), 0, 0, 0, 0, 0, 0
    )
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(entry) + len(name), len(local) + len(packed), 0)
    file.write_bytes(local + packed + entry + name + end)


def three_gigabytes() -> bytes:
    """Of blanks, packed: a block that repeats itself byte for byte once the window is full of blanks."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = b" " * (1 << 20)
    first = packer.compress(HEAD + block) + packer.flush(zlib.Z_FULL_FLUSH)
    more = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + more * (GIGABYTES // len(block)) + packer.flush()


@pytest.mark.parametrize("declared", [GIGABYTES, 100_000_000, 10])
def test_a_zip_that_unpacks_to_three_gigabytes_is_refused_whatever_it_says_of_itself(
    tmp_path: Path, nothing: Ran, declared: int
) -> None:
    file = tmp_path / "case.zip"
    deflated_zip(file, three_gigabytes(), declared)
    assert file.stat().st_size < 5_000_000
    bomb = run("replay", file)
    assert bomb.exit == 64
    assert bomb.said.startswith("cannot replay case.zip")
    assert "Traceback" not in bomb.said
    costs(bomb, nothing)


@pytest.mark.parametrize(
    ("piece", "size", "why"),
    [
        (b'"' + b"a" * 900 + b'",', 95_000_000, "larger than 85 MB"),
        (b" ", 95_000_000, "longer texts than"),
        (b'{"a":"bcdefghijklmnopqrstuvwxyz"},', 30_000_000, "more values than"),
        ("ä".encode() * 400 + b'",' + b'"', 20_000_000, "longer texts than"),
        (b"[],", 30_000_000, "more values than a recording has"),
        (b"{},", 30_000_000, "more values than a recording has"),
        (b"[", 30_000_000, "more values than a recording has"),
        (b'"0123456789", ', 120_000_000, "more values than a recording has"),
    ],
)
@pytest.mark.parametrize("name", ["case.zip", "case.json"])
def test_a_recording_that_would_fill_the_memory_is_refused(
    tmp_path: Path, nothing: Ran, piece: bytes, size: int, why: str, name: str
) -> None:
    file = tmp_path / name
    if name == "case.zip":
        zipped(file, repeated(piece, size))
    else:
        with file.open("wb") as out:
            out.writelines(repeated(piece, size))
    bomb = run("replay", file)
    # Packed, what repeats itself is refused for that already.
    also = ("more than 100 times its size", "larger than 85 MB") if name == "case.zip" else ()
    assert bomb.exit == 64
    assert any(one in bomb.said for one in (why, *also)), bomb.said
    costs(bomb, nothing)


def test_a_small_zip_that_unpacks_to_much_is_refused(tmp_path: Path, nothing: Ran) -> None:
    """Below what a recording may have, but of a size that no recording of that many bytes has."""
    file = tmp_path / "case.zip"
    zipped(file, repeated(b'"' + b"a" * 2_000 + b'",', 60_000_000))
    assert file.stat().st_size < 200_000
    bomb = run("replay", file)
    assert bomb.exit == 64
    assert "unpacks to more than 100 times its size" in bomb.said
    costs(bomb, nothing)


WIDE, LONG = b'"' + b"a" * 999_000 + "😀".encode() + b'",', b'"' + b"a" * 900_000 + b'",'
WORST = [
    [(WIDE, 11), (b'"abcdefghijklmnopq",', 1_780_000), (LONG, 30)],
    [(b'{"abcdefhjtkfhjk":"xyzxyz xyz"},', 390_000), (b'"abcdefghijkl",', 990_000), (LONG, 50)],
    [(b'{"abcdefhjtkfhjk":[1.5]},', 390_000), (b'"abcdefghijklmn",', 600_000), (LONG, 50)],
]


@pytest.mark.parametrize("pieces", WORST, ids=["wide texts", "small objects", "lists in objects"])
def test_the_worst_that_is_read_takes_little_more_than_a_large_recording(
    tmp_path: Path, nothing: Ran, pieces: list[tuple[bytes, int]]
) -> None:
    file = tmp_path / "case.json"
    with file.open("wb") as out:
        out.write(HEAD + b"[")
        out.writelines(piece for piece, times in pieces for _ in range(times))
        out.write(b"1]}")
    bomb = run("replay", file)
    assert "than a recording has" not in bomb.said
    assert bomb.rss_mb - nothing.rss_mb < ORDINARY_MB + MOST_MB
    assert bomb.cpu_s - nothing.cpu_s < ORDINARY_S + MOST_S


def nested(depth: int) -> bytes:
    return HEAD + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize("depth", [300, 900, 50_000])
def test_a_recording_that_is_nested_deeply_is_refused(tmp_path: Path, nothing: Ran, depth: int) -> None:
    file = tmp_path / "case.json"
    file.write_bytes(nested(depth))
    bomb = run("replay", file)
    assert bomb.exit == 64
    assert "nested more than 200 levels" in bomb.said or "depth limit exceeded" in bomb.said
    costs(bomb, nothing)


def many_entries(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(30_000):
            archive.writestr(str(number), b"")
        archive.writestr("recording.json", HEAD + b"0}")


def encrypted(file: Path) -> None:
    zipped(file, iter([HEAD, b"0}"]))
    content = bytearray(file.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    content[6] |= 1
    file.write_bytes(content)


def damaged(file: Path) -> None:
    zipped(file, iter([os.urandom(5000)]))
    content = bytearray(file.read_bytes())
    content[200:400] = bytes(200)
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (many_entries, "lists too many files"),
        (encrypted, "cannot be unpacked"),
        (damaged, "cannot replay case.zip"),
        (lambda file: zipped(file, repeated(b" ", 3_000_000), packing=zipfile.ZIP_BZIP2), "packed in a way"),
        (lambda file: zipped(file, repeated(b" ", 3_000_000), packing=zipfile.ZIP_LZMA), "packed in a way"),
    ],
)
def test_a_zip_that_is_no_recordings_is_refused(
    tmp_path: Path, nothing: Ran, make: Callable[[Path], None], why: str
) -> None:
    file = tmp_path / "case.zip"
    make(file)
    bomb = run("replay", file)
    assert (bomb.exit, why in bomb.said) == (64, True), bomb.said
    assert "Traceback" not in bomb.said
    costs(bomb, nothing)


@pytest.mark.parametrize(
    ("text", "why"),
    [("a: " + "x " * 499_000, "more than 400000 characters"), ("- a\n" * 190_000, "than 400000 characters")],
)
def test_a_recording_in_yaml_that_is_long_is_refused(tmp_path: Path, nothing: Ran, text: str, why: str) -> None:
    (tmp_path / "recording.yaml").write_text(text)
    bomb = run("replay", tmp_path)
    assert (bomb.exit, why in bomb.said) == (64, True), bomb.said
    costs(bomb, nothing)


@pytest.mark.parametrize("text", ["a: " + "x " * 199_000, "- a\n" * 19_900, "- x x x x x x x x\n" * 19_900])
def test_the_worst_recording_in_yaml_that_is_read_takes_a_second(tmp_path: Path, nothing: Ran, text: str) -> None:
    (tmp_path / "recording.yaml").write_text(text)
    bomb = run("replay", tmp_path)
    assert "more than" not in bomb.said
    costs(bomb, nothing)


YAML = pytest.mark.parametrize(("text", "why"), [(LAUGHS, "alias"), ("[" * 390_000, "nested")])


@YAML
def test_a_recording_in_yaml_that_unfolds_is_refused(tmp_path: Path, nothing: Ran, text: str, why: str) -> None:
    (tmp_path / "recording.yaml").write_text(text)
    bomb = run("replay", tmp_path)
    assert (bomb.exit, why in bomb.said) == (64, True), bomb.said
    costs(bomb, nothing)


@YAML
@pytest.mark.parametrize(
    ("command", "name", "around", "harmless"),
    [
        (("policy", "lint"), "policy.yaml", "{}", "look: no\n"),
        (("runbooks", "lint"), "bomb.md", "---\n{}\n---\n\n## What it means\n", "code: bomb"),
    ],
)
def test_a_policy_or_a_runbook_that_unfolds_is_refused(
    tmp_path: Path, command: tuple[str, str], name: str, around: str, harmless: str, text: str, why: str
) -> None:
    file = tmp_path / name
    given = file if command[0] == "policy" else tmp_path
    file.write_text(around.format(harmless))
    plain = run(*command, given)
    file.write_text(around.format(text))
    bomb = run(*command, given)
    assert bomb.exit == plain.exit != 0
    assert why in bomb.said
    assert "Traceback" not in bomb.said
    costs(bomb, plain)


@pytest.mark.parametrize("depth", [300, 900, 50_000])
def test_messages_that_are_nested_deeply_are_refused_by_line(tmp_path: Path, depth: int) -> None:
    file = tmp_path / "messages.jsonl"
    file.write_text('{"text": "x"}\n' + '{"blocks": ' + '[{"elements": ' * depth + "1" + "}]" * depth + "}\n")
    ran = run("triage", "--jsonl", file, "--clusters", "prod-weu")
    assert ran.exit == 64
    assert "line 2" in ran.said
    assert "nested more than 200 levels" in ran.said or "depth limit exceeded" in ran.said
    assert "Recursion" not in ran.said
