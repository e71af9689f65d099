"""Folders of models with free labels: what is served of them, and what is refused by name. Pure.

A model of this kind is given its labels with each request. GLiNER writes `gliner_config.json` in place of config.json;
GLiNER2 a config.json of the type `extractor`, and its encoder's in a folder beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from model_store.contents.allowed_files import CONFIG, CONVERSION, ENCODER_CONFIG, GLINER_CONFIG, LABELS_TOKENIZER
from model_store.contents.model_config import ModelConfig, max_tokens
from model_store.errors import FolderProblem
from model_store.manifest import LABEL_EXTRACTION

Json = Mapping[str, object]

_EXTRACTOR = "extractor"
_MODES = ("markerV0", "marker", "token_level")
_SIZES = ("max_width", "max_len")
_UNSERVED = (
    *("fuse_layers", "post_fusion_schema", "represent_spans", "labels_decoder", "relations_layer"),
    *("span_encoder_config", "precomputed_prompts_mode"),
)
"""Options that make another kind of model, if they say anything."""
_ONE_SIDED = ("t5", "mt5", "llama", "qwen2", "qwen3", "gpt2", "mistral")
_SERVED: Json = {
    "words_splitter_type": "whitespace",
    "subtoken_pooling": "first",
    "token_pooling": "first",
}
"""Options of which one value is served."""
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
"""Of GLiNER2.5's `boundary_head`, likewise."""
_BOUNDARY, _SPAN = "boundary", "span"
"""Architectures of GLiNER2.5, and of GLiNER2, which may name none."""
_COUNTING_LAYERS = ("count_lstm", "count_lstm_moe", "count_lstm_v2")


def describes_labels(contents: Mapping[str, Json]) -> bool:
    """True for a folder with these JSON files that is a model's with free labels."""
    return GLINER_CONFIG in contents or contents.get(CONFIG, {}).get("model_type") == _EXTRACTOR


def label_config_problems(
    contents: Mapping[str, Json], tokenizer_config: Json, names: Collection[str]
) -> list[FolderProblem]:
    """The reasons why the files do not describe a model with free labels that can be served."""
    problems = []
    if "auto_map" in tokenizer_config:
        sentence = "The tokenizer asks for remote code (`auto_map`); remote code never runs here."
        problems.append(FolderProblem("remote_code", sentence))
    encoder = _encoder(contents)
    if not isinstance(encoder.get("model_type"), str):
        what = f"{GLINER_CONFIG} does not say what its encoder is (`encoder_config`); {CONVERSION}"
        missing = f"{ENCODER_CONFIG}, which says what its encoder is, is missing."
        problems.append(FolderProblem("no_encoder_config", what if GLINER_CONFIG in contents else missing))
    elif encoder["model_type"] in _ONE_SIDED:
        problems.append(_unserved(f"an encoder of the kind {encoder['model_type']!a}"))
    if GLINER_CONFIG in contents:
        return problems + _gliner_problems(contents[GLINER_CONFIG], names)
    return problems + _gliner2_problems(contents[CONFIG])


def _gliner_problems(config: Json, names: Collection[str]) -> list[FolderProblem]:
    problems = [_unserved(f"`{name}`") for name in _UNSERVED if config.get(name)]
    if (mode := config.get("span_mode", _MODES[0])) not in _MODES:
        problems.append(_unserved(f"`span_mode` {mode!a}"))
    is_whole = isinstance(config.get("labels_encoder_config"), dict) and LABELS_TOKENIZER in names
    if config.get("labels_encoder") and not is_whole:
        what = f"`labels_encoder_config` or {LABELS_TOKENIZER} is missing, which its labels need; {CONVERSION}"
        problems.append(FolderProblem("no_labels_encoder", what))
    sizes = {name: config.get(name, 1) for name in _SIZES}
    return problems + _size_problems(sizes, GLINER_CONFIG) + _other_than(config, _SERVED)


def _gliner2_problems(config: Json) -> list[FolderProblem]:
    problems = _other_than(config, _SERVED)
    architecture = config.get("architecture") or _SPAN
    if architecture == _BOUNDARY:
        head = config.get("boundary_head")
        return problems + (_other_than(head, _SERVED_HEAD) if isinstance(head, dict) else [_unserved("no head")])
    if architecture != _SPAN:
        return [_unserved(f"the `architecture` {architecture!a}")]
    if (layer := config.get("counting_layer") or _COUNTING_LAYERS[0]) not in _COUNTING_LAYERS:
        problems.append(_unserved(f"the `counting_layer` {layer!a}"))
    head = config.get("span_head")
    options = {**config, **(head if isinstance(head, dict) else {})}
    sizes = {name: size for name in _SIZES if (size := options.get(name)) is not None}
    return problems + _size_problems(sizes, CONFIG) + _other_than(options, {"span_mode": _MODES[0]})


def _size_problems(sizes: Json, file: str) -> list[FolderProblem]:
    wrong = (name for name, size in sizes.items() if not isinstance(size, int) or size < 1)
    return [FolderProblem("config", f"`{name}` in {file} must be a number above 0.") for name in wrong]


def _other_than(config: Json, served: Json) -> list[FolderProblem]:
    others = ((name, config[name]) for name, value in served.items() if config.get(name) not in (None, value))
    return [_unserved(f"`{name}` {value!a}") for name, value in others]


def parse_label_config(contents: Mapping[str, Json], tokenizer_config: Json) -> ModelConfig:
    """The ModelConfig of files that have no `label_config_problems`."""
    encoder = _encoder(contents)
    return ModelConfig(
        architecture=_family(contents),
        model_type=str(encoder["model_type"]),
        labels=(),
        max_tokens=max_tokens(encoder, tokenizer_config),
        task=LABEL_EXTRACTION,
    )


def _family(contents: Mapping[str, Json]) -> str:
    if GLINER_CONFIG in contents:
        return "GLiNER"
    return "GLiNER2.5" if contents[CONFIG].get("architecture") == _BOUNDARY else "GLiNER2"


def _encoder(contents: Mapping[str, Json]) -> Json:
    """What says of the encoder what it is; empty where nothing does."""
    if GLINER_CONFIG not in contents:
        return contents.get(ENCODER_CONFIG, {})
    encoder = contents[GLINER_CONFIG].get("encoder_config")
    return encoder if isinstance(encoder, dict) else {}


def _unserved(what: str) -> FolderProblem:
    return FolderProblem("unserved_variant", f"The configuration has {what}; models of this variant are not served.")
