"""The tokenizer: the base's pieces (Unigram) over text that is cut into words, numbers and marks first.

Departures from the base's own tokenizer, all inside tokenizer.json, so that every reader of that file gets them:

- a line end and a gap between columns (a tab, or three and more spaces) are tokens of their own, because documents are
  laid out in lines and columns;
- of a run of one mark (`=====`, `. . . . .`) three stay: a ruled line would cost as many tokens as a paragraph;
- letters, digits and marks never share a piece, so that an entity can begin and end between any two of them.

Offsets are those of the text as it was, whatever is replaced.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

BEGIN, PAD, END, UNKNOWN = SPECIAL_TOKENS = ("<s>", "<pad>", "</s>", "<unk>")
WORD_START: Final = "▁"
LINE_END: Final = "▁⏎"
GAP: Final = "▁⇥"
MAX_LENGTH_TOKENS: Final = 512
_RUN_MARKS: Final = "-=_.*#~+·•─━"
_SPACED_MARKS: Final = "-_.*"
_INVISIBLE: Final = r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
# Neither ideographs and kana nor these marks have pieces that begin a word: `▁` would be a token of its own.
_WITHOUT_WORD_START: Final = r"▁(?=[\p{Han}\p{Hiragana}\p{Katakana},.|\\¥₺₩₽□☐✉☎])"
_WORDS: Final = r"▁?\p{Nd}+|▁?([^\p{L}\p{M}\p{Nd}\s▁'’])\1*"


def build_tokenizer(pieces: Sequence[tuple[str, float]]) -> Tokenizer:
    """A tokenizer of pieces with their scores, the special tokens first: `<s> X </s>`, no truncation or padding."""
    tokenizer = Tokenizer(models.Unigram(list(pieces), unk_id=SPECIAL_TOKENS.index(UNKNOWN), byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_INVISIBLE), ""),
            normalizers.NFKC(),
            normalizers.Replace(Regex(_surplus_marks()), ""),
            normalizers.Replace(Regex("\r\n?|[\n\x0b\x0c\u2028\u2029]"), f" {LINE_END[-1]} "),
            normalizers.Replace(Regex("\t| {3,}"), f" {GAP[-1]} "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(replacement=WORD_START, prepend_scheme="always", split=True),
            pre_tokenizers.Split(Regex(_WITHOUT_WORD_START), "removed"),
            pre_tokenizers.Split(Regex(_WORDS), "isolated"),
        ]
    )
    tokenizer.add_special_tokens(list(SPECIAL_TOKENS))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A {END}",
        pair=f"{BEGIN} $A {END} $B {END}",
        special_tokens=[(token, SPECIAL_TOKENS.index(token)) for token in (BEGIN, END)],
    )
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Writes tokenizer.json and the tokenizer_config.json that lets `AutoTokenizer` read it."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": MAX_LENGTH_TOKENS,
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
        "bos_token": BEGIN,
        "cls_token": BEGIN,
        "eos_token": END,
        "sep_token": END,
        "pad_token": PAD,
        "unk_token": UNKNOWN,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _surplus_marks() -> str:
    """A pattern of the marks after three equal ones, with or without single spaces between them."""
    together = (rf"(?<=\{mark}\{mark}\{mark})\{mark}+" for mark in _RUN_MARKS)
    spaced = (rf"(?<=\{mark} \{mark} \{mark})(?: \{mark})+" for mark in _SPACED_MARKS)
    return "|".join((*together, *spaced))
