"""Folders of GLiNER2 and GLiNER2.5 models: a config.json of the type `extractor`, and the trunk's in a folder. Pure."""

from __future__ import annotations

from collections.abc import Collection

from model_store.errors import FolderProblem
from model_store.families.family import CONFIG, Contents, Json, ModelConfig
from model_store.families.free_labels import (
    SERVED,
    SIZES,
    SPAN_MODES,
    described,
    other_than,
    size_problems,
    trunk_problems,
    unserved,
)

EXTRACTOR = "extractor"
TRUNK_FOLDER = "encoder_config"
TRUNK_CONFIG = f"{TRUNK_FOLDER}/config.json"
BOUNDARY, _SPAN = "boundary", "span"
"""Architectures of GLiNER2.5, and of GLiNER2, which may name none."""
_SERVED_HEAD: Json = {
    "candidate_pool": "shared",
    "candidate_attention_layers": 0,
    "query_attention_layers": 0,
    "boundary_attention_layers": 0,
    "content_soft_max_pool": False,
    "enable_rotary_endpoints": False,
    "endpoint_difference_features": False,
    "query_conditioned_inside_weight": False,
    "use_inside_evidence": True,
    "reranker_endpoint_compat": True,
    "enable_abstention": True,
}
"""Options of GLiNER2.5's `boundary_head` of which one value is served."""
_COUNTING_LAYERS = ("count_lstm", "count_lstm_moe", "count_lstm_v2")


class Gliner2Folder:
    """Folders of models of the gliner2 library: labels, or schemas of records, are given with each request."""

    config, more_configs, subfolders = CONFIG, (TRUNK_CONFIG,), (TRUNK_FOLDER,)
    conversion = ""
    has_labels = False

    def owns(self, contents: Contents) -> bool:
        """True for a folder with the library's configuration."""
        return contents.get(CONFIG, {}).get("model_type") == EXTRACTOR

    def problems(self, contents: Contents, names: Collection[str]) -> list[FolderProblem]:
        """The reasons why a folder cannot be served."""
        missing = f"{TRUNK_CONFIG}, which says what its encoder is, is missing."
        problems = trunk_problems(contents.get(TRUNK_CONFIG, {}), contents, missing)
        return problems + _head_problems(contents[CONFIG])

    def describe(self, contents: Contents) -> ModelConfig:
        """The properties of a folder without problems."""
        is_boundary = contents[CONFIG].get("architecture") == BOUNDARY
        return described("GLiNER2.5" if is_boundary else "GLiNER2", contents[TRUNK_CONFIG], contents)


def _head_problems(config: Json) -> list[FolderProblem]:
    problems = other_than(config, SERVED)
    architecture = config.get("architecture") or _SPAN
    if architecture == BOUNDARY:
        head = config.get("boundary_head")
        return problems + (other_than(head, _SERVED_HEAD) if isinstance(head, dict) else [unserved("no head")])
    if architecture != _SPAN:
        return [unserved(f"the `architecture` {architecture!a}")]
    if (layer := config.get("counting_layer") or _COUNTING_LAYERS[0]) not in _COUNTING_LAYERS:
        problems.append(unserved(f"the `counting_layer` {layer!a}"))
    head = config.get("span_head")
    options = {**config, **(head if isinstance(head, dict) else {})}
    sizes = {name: size for name in SIZES if (size := options.get(name)) is not None}
    return problems + size_problems(sizes, CONFIG) + other_than(options, {"span_mode": SPAN_MODES[0]})
