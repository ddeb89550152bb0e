"""Reads the file of a recording within limits on memory and time.

A zip of 2 MB can unpack to gigabytes, and the sizes in its directory prove nothing: it is unpacked once in chunks to be
measured, and read only then. The file may come from a stranger.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

INSIDE = "recording.json"
LARGEST = 85_000_000
"""Bytes, unpacked. One of 5,000 nodes and 150,000 pods has 68 MB, 1.4 million values and 290,000 objects; to replay it
takes 360 MB of memory. These bounds hold the worst that is accepted to 100 MB more than that."""
MOST_VALUES, MOST_OBJECTS = 1_800_000, 400_000
"""An object takes up to 350 bytes in memory, any other value up to 80."""
DENSEST = 6
"""Bytes a value, at least: in `[],[],[]` it is three for an object that takes twenty times as much."""
FEW_VALUES = 100_000
MOST_WIDE = 12_000_000
"""Bytes of the pieces that are not all ASCII: one such sign makes a whole text take four times as much."""
MOST_PACKED = 100
"""How many times its zip's size it may be. One of 5,000 nodes is 27 times as large."""
NOT_PACKED = 10_000_000
"""Bytes that any zip may unpack to."""
LONGEST_YAML, MOST_YAML_VALUES = 400_000, 20_000
"""Characters and values. YAML is written by hand; PyYAML takes a thousand times as long for it as orjson."""
DEEPEST = 200
"""No answer of Azure or Kubernetes is nested a quarter as deep."""
LONGEST_TEXT = 6 << 20
"""Bytes. An object of Kubernetes has less than two megabytes; a list that is kept in part may hold more in one."""
PIECE = 1 << 20
MOST_OF_DIRECTORY = 1 << 20
"""Bytes of a zip's directory. A recording's zip has one entry; a directory of a million takes a gigabyte."""
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""The ones that Python unpacks in pieces."""

_Open = Callable[[], IO[bytes]]


def read_recording(path: Path) -> Any:
    """The content of a zip, a folder's recording, or a YAML or JSON file. Raises ValueError if it is refused."""
    if path.is_dir():
        path = next(_candidates(path), path / "recording.yaml")
    if path.suffix in (".yaml", ".yml"):
        return _yaml(path)
    if path.suffix == ".json":
        return _json(lambda: path.open("rb"))
    try:
        with _SmallReads(path.open("rb", buffering=0)) as file, zipfile.ZipFile(file) as archive:
            entry = _entry(archive)
            return _json(lambda: archive.open(entry), min(LARGEST, max(NOT_PACKED, MOST_PACKED * path.stat().st_size)))
    except (RuntimeError, EOFError, zlib.error) as broken:
        raise ValueError(f"its zip cannot be unpacked: {broken}") from broken


def _candidates(folder: Path) -> Iterator[Path]:
    names = ("recording.yaml", "recording.yml", INSIDE)
    return (folder / name for name in names if (folder / name).exists())


class _SmallReads(io.BufferedReader):
    """A file whose zip directory is only read if it is small: it comes in a single read."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MOST_OF_DIRECTORY:
            raise ValueError("its zip lists too many files")
        return super().read(size)


def _entry(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    entry = archive.getinfo(INSIDE)
    if entry.compress_type not in PACKINGS:
        raise ValueError("its zip is packed in a way that is not read")
    if entry.file_size > LARGEST:
        raise _too_large(LARGEST)
    return entry


def _json(opened: _Open, most: int = LARGEST) -> Any:
    with opened() as file:
        _measure(file, most)
    with opened() as file:
        content = b"".join(_pieces(file))
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as bad:
        raise ValueError(f"it is not JSON: {bad}") from None
    del content
    if is_deeper(value, DEEPEST):
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    return value


def _measure(file: IO[bytes], most: int) -> None:
    """Measure a member without keeping its content."""
    size = values = objects = wide = text = 0
    for piece in _pieces(file):
        size += len(piece)
        objects += piece.count(b"{")
        values += piece.count(b",") + piece.count(b"[") + piece.count(b"{")
        wide += 0 if piece.isascii() else len(piece)
        if size > most:
            raise _too_large(most)
        if values > min(MOST_VALUES, FEW_VALUES + size // DENSEST) or objects > MOST_OBJECTS:
            raise ValueError("it holds more values than a recording has")
        text = text + len(piece) if _is_inside_a_text(piece) else 0
        if wide > MOST_WIDE or text > LONGEST_TEXT:
            raise ValueError("it holds longer texts than a recording has")


def _is_inside_a_text(piece: bytes) -> bool:
    """Whether this position is inside a JSON string."""
    return len(piece) == PIECE and b'"' not in piece.replace(b'\\"', b"")


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _too_large(most: int) -> ValueError:
    if most < LARGEST:
        return ValueError(f"it unpacks to more than {MOST_PACKED} times its size, and no recording does")
    return ValueError(f"unpacked, it is larger than {LARGEST // 1_000_000} MB, and no recording is")


def is_deeper(value: Any, than: int) -> bool:
    """Whether parsed data is nested deeper than this: Python's own recursion ends at a thousand levels."""
    level = [value]
    for _ in range(than):
        level = [inner for outer in level for inner in _inside(outer) if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _yaml(path: Path) -> Any:
    import yaml

    from runbooks.yaml_text import PlainLoader, load_yaml, read_text

    class AsWritten(PlainLoader):
        """Times in a body stay text, as on the wire."""

        longest, most_values = LONGEST_YAML, MOST_YAML_VALUES

    AsWritten.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in known if not tag.endswith(":timestamp")]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        return load_yaml(read_text(path, AsWritten), AsWritten)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
