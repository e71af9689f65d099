"""Folders of GLiNER models, which have a `gliner_config.json` in place of config.json. Pure."""

from __future__ import annotations

from collections.abc import Collection

from model_store.errors import FolderProblem
from model_store.families.family import Contents, Json, ModelConfig
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

GLINER_CONFIG = "gliner_config.json"
LABELS_FOLDER = "labels_tokenizer"
"""Folder of the tokenizer of a bi-encoder's labels."""
_UNSERVED = (
    *("fuse_layers", "post_fusion_schema", "represent_spans", "labels_decoder", "relations_layer"),
    *("span_encoder_config", "precomputed_prompts_mode"),
)
"""Options that make another kind of model, if they say anything."""


class GlinerFolder:
    """Folders of models of the gliner library: each request gives labels; spans or words are scored for them."""

    config, more_configs, subfolders = GLINER_CONFIG, (), (LABELS_FOLDER,)
    conversion = (
        "where the gliner library is trusted, "
        "`GLiNER.from_pretrained(ID).save_pretrained(FOLDER, safe_serialization=True)` writes a whole folder."
    )
    has_labels = False

    def owns(self, contents: Contents) -> bool:
        """True for a folder with the library's configuration."""
        return GLINER_CONFIG in contents

    def problems(self, contents: Contents, names: Collection[str]) -> list[FolderProblem]:
        """The reasons why a folder cannot be served."""
        config = contents[GLINER_CONFIG]
        missing = f"{GLINER_CONFIG} does not say what its encoder is (`encoder_config`); {self.conversion}"
        problems = trunk_problems(_trunk(config), contents, missing)
        problems += [unserved(f"`{name}`") for name in _UNSERVED if config.get(name)]
        if (mode := config.get("span_mode", SPAN_MODES[0])) not in SPAN_MODES:
            problems.append(unserved(f"`span_mode` {mode!a}"))
        tokenizer = f"{LABELS_FOLDER}/tokenizer.json"
        is_whole = isinstance(config.get("labels_encoder_config"), dict) and tokenizer in names
        if config.get("labels_encoder") and not is_whole:
            what = f"`labels_encoder_config` or {tokenizer} is missing, which its labels need; {self.conversion}"
            problems.append(FolderProblem("no_labels_encoder", what))
        sizes = {name: config.get(name, 1) for name in SIZES}
        return problems + size_problems(sizes, GLINER_CONFIG) + other_than(config, SERVED)

    def describe(self, contents: Contents) -> ModelConfig:
        """The properties of a folder without problems."""
        return described("GLiNER", _trunk(contents[GLINER_CONFIG]), contents)


def _trunk(config: Json) -> Json:
    """The configuration of the trunk; empty where there is none."""
    trunk = config.get("encoder_config")
    return trunk if isinstance(trunk, dict) else {}
