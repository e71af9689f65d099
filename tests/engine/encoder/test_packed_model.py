"""Packed rows of DeBERTa's layouts against its own code: sequences alone, in any company, by any plan of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoModelForTokenClassification, BertConfig, DebertaV2Config, PreTrainedModel
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

from service.core.arrays import TokenIds
from service.engine.encoder.disentangled_attention import DisentangledAttention, RelativePositions
from service.engine.encoder.encoder import load_encoder
from service.engine.encoder.forward_path import ChosenPath, ForwardPath
from service.engine.encoder.layer_subset import first_layers_only
from service.engine.encoder.packed_batch import pack
from service.engine.encoder.packed_model import packed_meanwhile, set_packed
from service.engine.encoder.packing_check import packs_on_host
from service.engine.execution.offloading import HostOffloaded
from service.families.engine.checkpoint import Checkpoint, parameter_bytes
from tests.support.tiny_models import make_model

CPU = torch.device("cpu")
LENGTHS = (1, 2, 7, 33, 512, 161, 300, 33)
BASE: dict[str, Any] = {
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 300,
    "relative_attention": True,
    "position_buckets": 16,
    "pos_att_type": "p2c|c2p",
    "share_att_key": True,
    "norm_rel_ebd": "layer_norm",
    "position_biased_input": False,
    "type_vocab_size": 0,
    "pad_token_id": 0,
}
LAYOUTS: dict[str, dict[str, Any]] = {
    "v3": {},
    "each distance its own": {"position_buckets": -1},
    "more buckets than tokens": {"position_buckets": 256},
    "own projections": {"share_att_key": False},
    "by key": {"pos_att_type": ["c2p"], "share_att_key": False},
    "by query": {"pos_att_type": ["p2c"]},
    "content alone": {"pos_att_type": []},
    "segments": {"type_vocab_size": 2},
    "absolute positions too": {"position_biased_input": True},
    "narrow embeddings": {"embedding_size": 24},
    "table as it is": {"norm_rel_ebd": "none"},
}
UNCOVERED: dict[str, dict[str, Any]] = {
    "convolution": {"conv_kernel_size": 3},
    "no relative positions": {"relative_attention": False},
}


def _model(kind: Any = AutoModelForTokenClassification, **options: Any) -> PreTrainedModel:
    torch.manual_seed(0)
    model: PreTrainedModel = kind.from_config(DebertaV2Config(**BASE | options)).eval().requires_grad_(False)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=weight.shape[-1] ** -0.5 if weight.dim() > 1 else 0.2)
    return model


def _sequences(lengths: Sequence[int] = LENGTHS) -> list[TokenIds]:
    return [np.random.default_rng(at).integers(0, 300, each).astype(np.int32) for at, each in enumerate(lengths)]


def _alone(model: PreTrainedModel, sequences: Sequence[TokenIds]) -> torch.Tensor:
    with torch.inference_mode():
        return torch.cat([model(input_ids=torch.from_numpy(each).long()[None])[0][0] for each in sequences])


@pytest.mark.parametrize(
    ("layout", "kind"), [*((layout, AutoModelForTokenClassification) for layout in LAYOUTS), ("v3", AutoModel)]
)
def test_rows_of_each_layout_are_those_of_its_own_code(layout: str, kind: Any) -> None:
    model, sequences = _model(kind, **LAYOUTS[layout]), _sequences()
    assert packs_on_host(Checkpoint(Path("model"), model, 0, 512))
    own = _alone(model, sequences)
    with torch.inference_mode(), packed_meanwhile(model) as compute:
        torch.testing.assert_close(compute(pack(sequences, CPU)), own, atol=1e-5, rtol=0)
    assert torch.equal(_alone(model, sequences), own)


@pytest.mark.parametrize("layout", UNCOVERED)
def test_a_layout_that_is_not_covered_stays_padded(layout: str) -> None:
    model = _model(**UNCOVERED[layout])
    assert not packs_on_host(Checkpoint(Path("model"), model, 0, 512))


def test_a_trunk_of_another_family_is_packed_by_name() -> None:
    torch.manual_seed(0)
    sizes = {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 96}
    model = AutoModel.from_config(BertConfig(**sizes, vocab_size=300)).eval()
    own, sequences = _alone(model, _sequences()), _sequences()
    compute = set_packed(model)
    with torch.inference_mode():
        torch.testing.assert_close(compute(pack(sequences, CPU)), own, atol=1e-5, rtol=0)


@pytest.mark.parametrize("scores", [1, 200_000, 1 << 24])
def test_sequences_of_one_rounded_length_are_computed_together(scores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In groups and blocks that hold at most so many scores, or as few as can be."""
    monkeypatch.setattr("service.engine.encoder.disentangled_attention.BLOCK_SCORES", scores)
    model, sequences = _model(), _sequences((300, 20, 64, 1, 130, 128, 20, 299))
    own, batch = _alone(model, sequences), pack(sequences, CPU)
    with torch.inference_mode(), packed_meanwhile(model) as compute:
        groups = model.base_model.encoder.layer[0].attention.self.plan(batch).groups
        torch.testing.assert_close(compute(batch), own, atol=1e-5, rtol=0)
    assert len(groups) == (8 if scores == 1 else 4 if scores > 200_000 else 5)


def test_not_even_nan_reaches_a_neighbour() -> None:
    model, batch = _model(), pack(_sequences((21, 19, 20)), CPU)
    rows = torch.randn(60, 48)
    damaged = rows.clone()
    damaged[21:40] = torch.nan
    with torch.inference_mode(), packed_meanwhile(model):
        replaced: DisentangledAttention = model.base_model.encoder.layer[0].attention.self
        plan = replaced.plan(batch)
        found, expected = replaced(damaged, plan), replaced(rows, plan)
    assert torch.equal(found[:21], expected[:21])
    assert torch.equal(found[40:], expected[40:])
    assert found[21:40].isnan().all()


def test_a_packed_model_runs_with_its_first_layers_only() -> None:
    model, batch = _model(num_hidden_layers=3), pack(_sequences((20, 7)), CPU)
    compute = set_packed(model)
    with torch.inference_mode():
        whole = compute(batch)
        with first_layers_only(model, 1):
            assert not torch.equal(compute(batch), whole)
        assert torch.equal(compute(batch), whole)


def test_the_weights_of_a_packed_model_are_those_of_its_module(tmp_path: Path) -> None:
    """They are counted, and whoever moves the module's weights moves all that it computes with."""
    encoder = load_encoder(make_model(tmp_path, "deberta-v2"), CPU, torch.float32, known=ChosenPath(ForwardPath.PACKED))
    assert parameter_bytes(encoder.module) == sum(each.nbytes for each in encoder.module.parameters())
    sequences = [each % 100 for each in _sequences((20, 7))]
    before = encoder.forward(sequences)
    offloaded = HostOffloaded(encoder, encoder.module)
    offloaded.offload()
    for weight in encoder.module.parameters():
        weight.data = torch.full_like(weight, torch.nan)
    offloaded.load()
    for given, wanted in zip(offloaded.forward(sequences), before, strict=True):
        np.testing.assert_array_equal(given, wanted)


def test_borders_of_buckets_are_those_of_transformers() -> None:
    for buckets, farthest in ((256, 512), (256, 1_280), (32, 512), (16, 64), (64, 4_096)):
        distances = range(-farthest - 40, farthest + 40)
        theirs = make_log_bucket_position(torch.tensor(distances), buckets, farthest).long() + buckets
        ours = RelativePositions(buckets, buckets, farthest).slots(distances)
        assert ours.tolist() == theirs.clamp(0, 2 * buckets - 1).tolist()
