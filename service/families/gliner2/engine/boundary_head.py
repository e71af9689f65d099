"""GLiNER2.5's head: hidden states of words and labels to scores of a pool of spans, which all labels share.

Written from the weights' names and the published formulas of the `gliner2` library (2.1), in float32. Between the words
of a sequence and around them lie boundaries. Each label scores every boundary as a start and as an end, and every word
as inside. The pairs of the best starts and ends make the pool: each label's best ones first, then by score. A span's
vector, which does not depend on the label, is then scored by each label; a label may also say that it is absent.

Where the labels are fields of records, a span may be a value of a record or what begins one. How much it stands in the
field of the record that begins with another span is a product of a vector of the one, and the sum of a vector of the
field and one of the other (`core/decoding/records`).

No shape depends on a value, so a GPU need not be waited for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from service.core.arrays import TokenIds
from service.core.decoding.records import PLACE_COLUMNS
from service.families.engine.checkpoint import Weights
from service.families.free_labels.engine.head_parts import NO_SCORE, misfit, parted, pick_rows
from service.families.gliner2.config import BoundaryOptions

QUOTA_SCORE = 5e3
"""From here on scores of pairs that are in the pool for one label's sake."""
PREFIX = "boundary_head."
UNUSED = (
    *("classifier.", "relation_scorer."),
    *(f"{PREFIX}{part}." for part in ("boundary_proposer", "count_head", "pair_scorer")),
    *(f"record_decoder.{part}" for part in ("instance_embed", "k_proj", "latent_seed_head")),
    *(f"record_decoder.{part}" for part in ("object_head", "q_proj", "v_proj")),
)
"""Weights for other tasks and for training; of records, those for records that no field begins."""
OF_RECORDS = ("record_decoder.", f"{PREFIX}candidate_encoder.")


class _Pool(NamedTuple):
    """States of boundaries, and of each pair its first and last one, whether it is a span, its score by each label."""

    boundaries: torch.Tensor
    first: torch.Tensor
    stop: torch.Tensor
    is_span: torch.Tensor
    scores: torch.Tensor


class BoundaryHead(nn.Module):
    """The head of one model; its weights have their names in the folder.

    Args:
        class_id, field_id: of the tokens before labels of entities, and before fields of records, if it finds some.

    Raises:
        ModelError: a weight is missing or left over.
    """

    def __init__(
        self, options: BoundaryOptions, weights: Weights, trunk_size: int, class_id: int, field_id: int | None
    ) -> None:
        super().__init__()
        self._options, self._class_id, self._field_id = options, class_id, field_id
        self._used: set[str] = set()
        unused = UNUSED if options.enable_records else (*UNUSED, *OF_RECORDS)
        own = {name.removeprefix(PREFIX): each for name, each in weights.items() if not name.startswith(unused)}
        for name, each in own.items():
            self._put(name, each)
        try:
            for score in (self._scores, self._records) if options.enable_records else (self._scores,):
                score(torch.zeros(2, trunk_size), torch.zeros(1, trunk_size))
        except (AttributeError, RuntimeError) as error:
            raise misfit(f"missing or of another shape: {error}") from error
        if left_over := sorted(own.keys() - self._used):
            raise misfit(f"unexpected: {', '.join(left_over[:3])}")

    def _put(self, name: str, weight: torch.Tensor) -> None:
        *path, last = name.split(".")
        module: nn.Module = self
        for part in path:
            if part not in module._modules:
                module.add_module(part, nn.Module())
            module = module.get_submodule(part)
        module.register_parameter(last, nn.Parameter(weight.float(), requires_grad=False))

    def forward(self, rows: torch.Tensor, marked: Sequence[TokenIds]) -> list[torch.Tensor]:
        """The pool of each sequence: `[spans, 2 + labels]`: first word, the word after the last one, scores.

        Of one that asks for records: as `core/decoding/records` has it.
        """
        picked = pick_rows(rows, marked, self._class_id, self._field_id)
        words, labels = parted(picked.words, picked.word_counts), parted(picked.labels, picked.label_counts)
        field = None if self._field_id is None else ~self._field_id
        scores = [self._records if (each == field).any() else self._scores for each in marked]
        return [score(*own) for score, *own in zip(scores, words, labels, strict=True)]

    def _scores(self, words: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        if not len(words) or not len(labels):
            return words.new_empty(0, 2 + len(labels))
        pool = self._scored_pool(words, labels)
        is_absent = torch.sigmoid(self._linear(labels, "null_projection.")[:, 0]) > self._options.abstention_threshold
        scores = pool.scores.masked_fill(is_absent | ~pool.is_span[:, None], NO_SCORE)
        return torch.cat([pool.first[:, None].float(), pool.stop[:, None].float(), scores], dim=1)

    def _records(self, words: torch.Tensor, fields: torch.Tensor) -> torch.Tensor:
        if not len(words):
            return words.new_empty(0, PLACE_COLUMNS + 2 * len(fields))
        pool, part = self._scored_pool(words, fields), "record_decoder."
        ends = torch.cat([pool.boundaries[pool.first], pool.boundaries[torch.maximum(pool.stop, pool.first)]], dim=-1)
        spans = self._linear(ends, "candidate_encoder.")
        values = torch.cat([self._weight(f"{part}null_embed")[None], self._linear(spans, f"{part}cand_proj.")])
        wanted = torch.cat([self._linear(fields, f"{part}field_proj."), self._linear(spans, f"{part}inst_proj.")])
        places = torch.stack([pool.first, pool.stop, pool.is_span], dim=1).float()
        fits = F.pad(torch.cat([places, pool.scores], dim=1), (0, 0, 1, 0), value=-1.0)
        return torch.cat([fits, values @ wanted.T / self._options.record_temperature], dim=1)

    def _scored_pool(self, words: torch.Tensor, labels: torch.Tensor) -> _Pool:
        boundaries = self._boundaries(words)
        query_head = "boundary_query_head."
        starts = self._product(boundaries, labels, f"{query_head}start_boundary", f"{query_head}start_query")
        ends = self._product(boundaries, labels, f"{query_head}end_boundary", f"{query_head}end_query")
        insides = self._product(words, labels, f"{query_head}inside_text", f"{query_head}inside_query")
        first, stop, is_span, compatible = self._pool(boundaries, starts, ends)
        length = (stop - first).clamp(min=1).float()
        vectors = self._vectors(words, boundaries, first, stop, length, compatible)
        sums = F.pad(insides.cumsum(-1), (1, 0))
        evidence = starts[:, first] + ends[:, stop] + (sums[:, stop] - sums[:, first]) / length.sqrt()
        scores = (self._judged(vectors, labels) + evidence.T) / self._options.pair_temperature
        return _Pool(boundaries, first, stop, is_span, scores)

    def _boundaries(self, words: torch.Tensor) -> torch.Tensor:
        """The states of the boundaries, one more than words."""
        part = "boundary_encoder."
        left = torch.cat([self._weight(f"{part}bos_state")[None], words])
        right = torch.cat([words, self._weight(f"{part}eos_state")[None]])
        sides = [self._linear(left, f"{part}left_projection."), self._linear(right, f"{part}right_projection.")]
        states = self._norm(self._linear(torch.cat(sides, -1), f"{part}output_projection."), f"{part}layer_norm.")
        for number in range(self._options.boundary_refinement_layers):
            block = f"{part}refinement_blocks.{number}."
            value, gate = self._linear(self._norm(states, f"{block}norm."), f"{block}input_projection.").chunk(2, -1)
            states = states + self._linear(value * F.silu(gate), f"{block}output_projection.")
        return states

    def _product(self, states: torch.Tensor, labels: torch.Tensor, of_states: str, of_labels: str) -> torch.Tensor:
        """Scores `[labels, states]`."""
        keys, queries = (
            self._linear(states, f"{of_states}_projection."),
            self._linear(labels, f"{of_labels}_projection."),
        )
        return queries @ keys.T / math.sqrt(self._options.boundary_dim)

    def _pool(
        self, boundaries: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """First and last boundary of each pair in the pool, whether it is a span, and how its boundaries fit."""
        options = self._options
        best_starts, best_ends = starts.amax(0), ends.amax(0)
        most = min(options.pool_boundary_top_k, len(boundaries))
        firsts = torch.sort(best_starts, descending=True, stable=True)[1][:most]
        stops = torch.sort(best_ends, descending=True, stable=True)[1][:most]
        compatible = self._compatible(boundaries[firsts], boundaries[stops]).flatten()
        first, stop = firsts.repeat_interleave(most), stops.repeat(most)
        is_span = stop > first
        own = (starts[:, first] + ends[:, stop] + compatible).masked_fill(~is_span, -1e4)
        quota = min(options.min_pool_per_query, len(first))
        wanted = torch.sort(own, dim=-1, descending=True, stable=True)[1][:, :quota]
        places = QUOTA_SCORE + quota - torch.arange(quota, device=wanted.device, dtype=own.dtype)
        ranks = compatible + best_starts[first] + best_ends[stop]
        ranks = ranks.scatter_reduce(0, wanted.flatten(), places.repeat(len(wanted)), "amax")
        chosen = ranks.masked_fill(~is_span, float("-inf")).topk(min(options.pool_size, len(first)))[1]
        return first[chosen], stop[chosen], is_span[chosen], compatible[chosen]

    def _compatible(self, starts: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        """How the states of two boundaries fit as those of one span: `[starts, ends]`."""
        part = "shared_pool_builder."
        left = self._linear(starts, f"{part}start_projection.")
        right = self._linear(ends, f"{part}end_projection.")
        return left @ right.T / math.sqrt(self._options.boundary_dim)

    def _vectors(
        self,
        words: torch.Tensor,
        boundaries: torch.Tensor,
        first: torch.Tensor,
        stop: torch.Tensor,
        length: torch.Tensor,
        compatible: torch.Tensor,
    ) -> torch.Tensor:
        """The vector of each span, before any label: `[spans, size]`."""
        part = "shared_pool_scorer."
        stop = torch.maximum(stop, first)
        features = torch.stack([length.log1p(), length / len(words), length.rsqrt()], -1)
        vectors = (
            self._linear(boundaries, f"{part}start_projection.")[first]
            + self._linear(boundaries, f"{part}end_projection.")[stop]
            + self._linear(features, f"{part}length_projection.")
            + self._linear(compatible[:, None], f"{part}prior_projection.")
        )
        if self._options.enable_span_content:
            sums = F.pad(self._linear(words, f"{part}content_pooler.value_projection.").cumsum(0), (0, 0, 1, 0))
            mean = self._norm((sums[stop] - sums[first]) / length[:, None], f"{part}content_pooler.layer_norm.")
            vectors = vectors + self._linear(mean, f"{part}content_projection.")
        return self._norm(vectors, f"{part}candidate_norm.")

    def _judged(self, vectors: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """The score of each span's vector for each label: `[spans, labels]`."""
        part = "shared_pool_scorer."
        queries = self._linear(labels, f"{part}query_projection.")
        scale, shift = self._linear(queries, f"{part}film.").chunk(2, -1)
        conditioned = vectors[:, None] * (1 + scale) + shift
        inner = F.gelu(self._linear(conditioned, f"{part}film_output.0."))
        more = self._linear(inner, f"{part}film_output.3.")[..., 0]
        return vectors @ queries.T / math.sqrt(vectors.shape[-1]) + more

    def _linear(self, rows: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(rows, self._weight(f"{name}weight"), self._weight(f"{name}bias"))

    def _norm(self, rows: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(rows, rows.shape[-1:], self._weight(f"{name}weight"), self._weight(f"{name}bias"))

    def _weight(self, name: str) -> torch.Tensor:
        self._used.add(name)
        return self.get_parameter(name)
