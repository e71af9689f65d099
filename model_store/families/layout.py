"""Folders of layout models: token classifiers whose tokens have boxes on a page. Pure.

It also knows kinds of models that read pages in ways that are not served, so that publishing can give the reason.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from model_store.errors import FolderProblem
from model_store.families.family import CONFIG, TOKENIZER_CONFIG, Contents, Json, ModelConfig
from model_store.families.free_labels import unserved
from model_store.families.token_classifier import TokenClassifierFolder

WITH_PICTURES = "layoutlmv3"
KINDS = ("layoutlm", "lilt", "bros", WITH_PICTURES)
PREPROCESSOR, PROCESSOR = "preprocessor_config.json", "processor_config.json"
"""Files with a folder's options for pictures: the first, or `image_processor` in the second."""
DECODING = "decoding.json"
PAGES, TEXTS = "needs pages", "reads texts without pages as well"
LARGEST = 1_000
"""Largest coordinate of a box, in thousandths of its page."""
SPECIAL_BOXES = ("cls_token_box", "sep_token_box", "pad_token_box")
"""Names of the boxes of special tokens in tokenizer_config.json."""
_DETECTRON = "reads pictures by detectron2, which does not run here; LayoutLM, LiLT, BROS and LayoutLMv3 are served."
_GENERATES = "writes a text from a picture of the page and tags no words, so it is not served."
UNSERVED = {
    "layoutlmv2": f"LayoutLMv2 {_DETECTRON}",
    "layoutxlm": f"LayoutXLM {_DETECTRON}",
    "markuplm": "MarkupLM reads the places of words in the tree of an HTML page, which are not read here.",
    "udop": f"UDOP {_GENERATES}",
    "vision-encoder-decoder": f"Such a model (Donut, Nougat, TrOCR) {_GENERATES}",
    "donut-swin": f"Donut {_GENERATES}",
    "nougat": f"Nougat {_GENERATES}",
    "pix2struct": f"Pix2Struct {_GENERATES}",
    "florence2": f"Florence {_GENERATES}",
    "florence_vision": f"Florence {_GENERATES}",
    "kosmos-2": f"Kosmos {_GENERATES}",
    "kosmos-2.5": f"Kosmos {_GENERATES}",
    "got_ocr2": f"GOT-OCR {_GENERATES}",
    "tapas": "TAPAS reads rows and columns of a table, which are not read here.",
}
"""Model type → why such a model is not served."""
MOST_SIDE = 1_024
"""Most pixels of a picture's side."""
FILTERS = (0, 1, 2, 3)
"""Numbers of Pillow's filters that may resize a page's picture: nearest, Lanczos, bilinear, bicubic."""


class LayoutFolder(TokenClassifierFolder):
    """Folders of token classifiers that see where a word stands on its page, as transformers writes them."""

    more_configs = (PREPROCESSOR, PROCESSOR)

    def owns(self, contents: Contents) -> bool:
        """True for the kinds of models that read pages, served or not."""
        kind = contents.get(CONFIG, {}).get("model_type")
        return kind in KINDS or kind in UNSERVED

    def problems(self, contents: Contents, names: Collection[str]) -> list[FolderProblem]:
        """The reasons why a folder cannot be served."""
        config = contents[CONFIG]
        kind = str(config["model_type"])
        if kind in UNSERVED:
            return [FolderProblem("unserved_variant", UNSERVED[kind])]
        problems = super().problems(contents, names)
        if heads := [name for name in _architectures(config) if "Spade" in name]:
            sentence = (
                f"{CONFIG} names {heads[0]}, which finds relations between words; BrosForTokenClassification is served."
            )
            problems.append(FolderProblem("unserved_variant", sentence))
        places = config.get("max_2d_position_embeddings", LARGEST + 24)
        if kind != "bros" and (not isinstance(places, int) or places <= LARGEST):
            sentence = (
                f"`max_2d_position_embeddings` in {CONFIG} must be above {LARGEST}, the largest coordinate of a box."
            )
            problems.append(FolderProblem("config", sentence))
        options = contents.get(TOKENIZER_CONFIG, {})
        for name in SPECIAL_BOXES:
            if name in options and not is_box(options[name]):
                sentence = (
                    f"`{name}` in {TOKENIZER_CONFIG} must be left, top, right, bottom: integers up to {LARGEST:,}."
                )
                problems.append(FolderProblem("config", sentence))
        return problems + (_picture_problems(contents) if needs_pictures(config) else [])

    def describe(self, contents: Contents) -> ModelConfig:
        """The properties of a folder without problems."""
        if needs_pictures(contents[CONFIG]):
            needs = f"{PAGES} and a picture of each page"
        else:
            needs = TEXTS if contents.get(DECODING, {}).get("text_without_boxes") is True else PAGES
        return replace(super().describe(contents), needs=f"tokens have boxes; {needs}")


def is_box(said: object) -> bool:
    """True for a list of four integers from 0 to LARGEST: left, top, right, bottom."""
    match said:
        case [int() as left, int() as top, int() as right, int() as bottom]:
            return 0 <= left <= right <= LARGEST and 0 <= top <= bottom <= LARGEST
    return False


def needs_pictures(config: Json) -> bool:
    """True if a model of this configuration reads a picture of each page as well."""
    return config.get("model_type") == WITH_PICTURES and config.get("visual_embed", True) is not False


def picture_options(contents: Contents) -> Json:
    """Read a folder's options for pictures; empty without such a file."""
    options: object = contents.get(PREPROCESSOR)
    if options is None:
        options = contents.get(PROCESSOR, {}).get("image_processor")
    return options if isinstance(options, dict) else {}


def picture_side(config: Json) -> object:
    """Read the side in pixels of the square picture that a model sees."""
    return config.get("input_size", 224)


def _picture_problems(contents: Contents) -> list[FolderProblem]:
    config, options = contents[CONFIG], picture_options(contents)
    side = picture_side(config)
    if not isinstance(side, int) or not 0 < side <= MOST_SIDE:
        return [FolderProblem("config", f"`input_size` in {CONFIG} must be a number of pixels up to {MOST_SIDE:,}.")]
    problems = []
    if options.get("size", side) not in (side, {"height": side, "width": side}):
        problems.append(unserved(f"pictures of another `size` than `input_size` in {CONFIG}, {side} × {side} pixels"))
    if options.get("do_resize", True) is False:
        problems.append(unserved("`do_resize` false"))
    if options.get("do_center_crop"):
        problems.append(unserved("`do_center_crop`"))
    if (filter_ := options.get("resample", 2)) not in FILTERS:
        problems.append(unserved(f"`resample` {filter_!a}"))
    return problems


def _architectures(config: Json) -> list[str]:
    named = config.get("architectures")
    return [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
