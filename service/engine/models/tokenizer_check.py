"""Tokenizer check: a folder's tokens as they are read here, against those of transformers.

Here `tokenizer.json` alone is read. transformers lets `tokenizer_config.json` change it: `do_lower_case`,
`add_prefix_space`, tokens added by name and more, by rules of each tokenizer's class. `save_pretrained` writes both
files alike; edited or assembled ones can differ, and then the model would get other tokens than its author's, without
an error. So such a folder is refused, by the option that makes the difference.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from service.core.errors import ModelError
from service.families.layout.tokenizer import mark_of_words
from service.text.tokenizer import TOKENIZER_FILE, Vocabulary, encoded, encoded_words, vocabulary_of

CONFIG_FILE, MODEL_CONFIG_FILE = "tokenizer_config.json", "config.json"
TEXTS = (
    "Jane Doe, Acme GmbH, pays EUR 1,250.00 on 31.01.2026 (jane@acme.example)!",
    "  José Núñez  visitó ÅLESUND: naïve café, Straße, e\u0301cole\tÆ\n\nﬁn ½ ㎏",
    "张伟在北京 東京都渋谷区 김철수 שלום مرحبا नमस्ते Привет 👩‍👩‍👧 x",
)
"""Tried in each folder, with the tokens that its options name."""
GENERIC = ("PreTrainedTokenizerFast", "TokenizersBackend")
"""Classes that take `tokenizer.json` as it is."""
OF_WORDS = ("LayoutLMv2", "LayoutLMv3", "LayoutXLM")
"""Beginnings of the names of classes that read words with boxes."""
HARMLESS = frozenset(
    {
        *("tokenizer_class", "model_max_length", "model_input_names", "clean_up_tokenization_spaces", "backend"),
        *("padding_side", "truncation_side", "name_or_path", "is_local", "local_files_only", "processor_class"),
    }
)
"""Options that change no token of a text, whatever they say, where the class is generic."""

log = logging.getLogger(__name__)


def refuse_other_tokens(folder: Path, vocabulary: Vocabulary | None = None) -> None:
    """Raise ModelError for a folder whose `tokenizer_config.json` gives texts other tokens than `tokenizer.json`.

    A folder whose files cannot be read passes: that is found, and said, by whoever reads them.
    """
    try:
        options = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        vocabulary = vocabulary or vocabulary_of(folder / TOKENIZER_FILE)
    except (OSError, ValueError, ModelError):
        return
    if not isinstance(options, dict) or _is_harmless(options, vocabulary):
        return
    texts = [*TEXTS, *(f"{TEXTS[0]} {token} x{token}" for token in dict.fromkeys(_named(options)))]
    ours = [_tokens(vocabulary, text, of_words=_reads_words(options)) for text in texts]
    if _tokens_of_transformers(folder, options, texts) in (None, ours):
        return
    raise ModelError(
        f"{CONFIG_FILE} gives texts other tokens than {TOKENIZER_FILE}, which alone is read here, by its option "
        f"{_option(folder, options, texts, ours)}; write both with save_pretrained, or make the option agree"
    )


def refuse_missing_embeddings(largest_id: int, embeddings: int | None) -> None:
    """Raise ModelError for a tokenizer with more tokens than the model has embeddings; None: nobody knows how many."""
    if embeddings is not None and largest_id >= embeddings:
        raise ModelError(
            f"the tokenizer has a token {largest_id}, and the model embeddings for {embeddings} tokens "
            "alone; call model.resize_token_embeddings and save both again"
        )


def refuse_unusable_tokens(folder: Path) -> None:
    """Raise ModelError for a folder whose tokens the model lacks, by its `config.json`, or reads differently here.

    A folder whose files cannot be read passes, as in `refuse_other_tokens`.
    """
    try:
        config = json.loads((folder / MODEL_CONFIG_FILE).read_text(encoding="utf-8"))
        vocabulary = vocabulary_of(folder / TOKENIZER_FILE)
    except (OSError, ValueError, ModelError):
        return
    size = config.get("vocab_size") if isinstance(config, dict) else None
    refuse_missing_embeddings(vocabulary.largest_id, size if isinstance(size, int) else None)
    refuse_other_tokens(folder, vocabulary)


def _is_harmless(options: dict[str, Any], vocabulary: Vocabulary) -> bool:
    known = {token.content for token in vocabulary.tokenizer.get_added_tokens_decoder().values()}
    others = {name: value for name, value in options.items() if name not in HARMLESS}
    return options.get("tokenizer_class") in GENERIC and all(
        name.endswith("_token") and (value is None or (isinstance(value, str) and value in known))
        for name, value in others.items()
    )


def _named(options: object) -> Iterator[str]:
    """The tokens that options name: `"bos_token": "<s>"`, or a list or a map of tokens, each a text or an object."""
    if isinstance(options, str):
        yield options
    elif isinstance(options, dict) and isinstance(options.get("content"), str):
        yield options["content"]
    elif isinstance(options, dict):
        for name, value in options.items():
            if "token" in name or name.isdecimal():
                yield from _named(value if name != "tokenizer_class" else None)
    elif isinstance(options, list):
        for value in options:
            yield from _named(value)


def _reads_words(options: dict[str, Any]) -> bool:
    return str(options.get("tokenizer_class")).startswith(OF_WORDS)


def _tokens(vocabulary: Vocabulary, text: str, *, of_words: bool) -> list[int]:
    """Tokenize a text, special tokens included; `of_words`: each word by itself."""
    if of_words:
        mark = mark_of_words(vocabulary)
        content = encoded_words(vocabulary.tokenizer, [mark + word for word in text.split()]).ids
    else:
        content = encoded(vocabulary.tokenizer, text).ids
    return [*vocabulary.prefix.tolist(), *content, *vocabulary.suffix.tolist()]


def _tokens_of_transformers(folder: Path, options: dict[str, Any], texts: Sequence[str]) -> list[list[int]] | None:
    """Each text's tokens with these options; None where transformers cannot read the folder."""
    from transformers import AutoTokenizer

    with TemporaryDirectory() as name:
        copy = Path(name)
        (copy / CONFIG_FILE).write_text(json.dumps(options), encoding="utf-8")
        for file in folder.iterdir():
            if file.suffix in (".json", ".txt") and file.name != CONFIG_FILE:
                (copy / file.name).symlink_to(file.resolve())
        try:
            tokenizer = AutoTokenizer.from_pretrained(copy, local_files_only=True, trust_remote_code=False)
            ask = partial(tokenizer, truncation=False, padding=False)
            if _reads_words(options):
                words = [text.split() for text in texts]
                return [list(ask(each, boxes=[[0] * 4] * len(each))["input_ids"]) for each in words]
            return [list(ask(text)["input_ids"]) for text in texts]
        except Exception as error:  # transformers raises whatever its many classes meet.
            log.warning("transformers cannot read the tokenizer", extra={"folder": folder.name, "reason": str(error)})
            return None


def _option(folder: Path, options: dict[str, Any], texts: Sequence[str], ours: list[list[int]]) -> str:
    """The option without which, or negated, the tokens are equal; the tokenizer's class where no single one is it."""
    for name, value in options.items():
        without = {each: options[each] for each in options if each != name}
        changed = [without, {**options, name: not value}] if isinstance(value, bool) else [without]
        if name != "tokenizer_class" and ours in (_tokens_of_transformers(folder, each, texts) for each in changed):
            return f"{name}: {json.dumps(value)[:100]}"
    return f"tokenizer_class: {options.get('tokenizer_class', 'none')}, or several together"
