"""The tokenizer: a cased WordPiece in BERT's manner, which also sees line ends.

Two departures from BERT's, both inside tokenizer.json, so that every reader of that file gets them:
a line end is a token of its own (documents are laid out in lines), and numbers are cut into pairs of
digits rather than into pieces learnt from whichever numbers the corpus happened to hold.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

LINE_END: Final = "⏎"
SPECIAL_TOKENS: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MAX_LENGTH_TOKENS: Final = 512
_DIGITS: Final = re.compile(r"\d+")
_ALPHABET: Final = (
    *(chr(code) for code in range(0x21, 0x180) if chr(code).isprintable()),
    *(chr(code) for code in range(0x386, 0x3CF) if chr(code).isprintable()),
    *(chr(code) for code in range(0x400, 0x460)),
    *"ȘșȚț–—‘’‚“”„…•·●▪■➢✓→‣◦€£₹₺₽¥™°№§†‐‑­­",
)


def train_tokenizer(texts: Iterable[str], *, vocabulary_size: int) -> Tokenizer:
    """A tokenizer with [CLS] X [SEP] post-processing and no truncation or padding settings."""
    tokenizer = _bare_tokenizer(models.WordPiece(unk_token="[UNK]"))
    fixed = _fixed_tokens()
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary_size - len(fixed),
        min_frequency=3,
        initial_alphabet=list(_ALPHABET),
        limit_alphabet=len(_ALPHABET) + 200,
        show_progress=False,
    )
    tokenizer.train_from_iterator((_DIGITS.sub(" ", text) for text in texts), trainer)
    learnt = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    tokens = dict.fromkeys((*fixed, *(token for token, _ in learnt)))
    return _finished({token: number for number, token in enumerate(tokens)})


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Writes tokenizer.json and the tokenizer_config.json that lets `AutoTokenizer` read it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = ("pad", "unk", "cls", "sep", "mask")
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": MAX_LENGTH_TOKENS,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
        **{f"{name}_token": token for name, token in zip(names, SPECIAL_TOKENS, strict=True)},
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _fixed_tokens() -> tuple[str, ...]:
    pairs = (*(f"{n}" for n in range(10)), *(f"{n:02}" for n in range(100)))
    years = (str(year) for year in range(1950, 2036))
    return (*SPECIAL_TOKENS, LINE_END, *pairs, *(f"##{pair}" for pair in pairs), *years)


def _bare_tokenizer(model: models.WordPiece) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace("\n", LINE_END),
            normalizers.BertNormalizer(
                clean_text=True, handle_chinese_chars=True, strip_accents=False, lowercase=False
            ),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(LINE_END, "isolated"), pre_tokenizers.BertPreTokenizer()]
    )
    return tokenizer


def _finished(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = _bare_tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer
