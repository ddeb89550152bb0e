"""Files that are small and unfold: refused in a sentence, within 100 MB and a second of processor time."""

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
        (b" ", 250_000_000, "larger than 200 MB"),
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
    assert (bomb.exit, why in bomb.said) == (64, True), bomb.said
    costs(bomb, nothing)


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


YAML = pytest.mark.parametrize(("text", "why"), [(LAUGHS, "alias"), ("[" * 900_000, "nested")])


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
