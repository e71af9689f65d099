"""Which files of a Hugging Face folder are taken, left out or refused, by name and kind. Pure; no file is read here.

- Taken: what a loader reads (config, tokenizer, vocabulary, the safetensors weights), and README and licence.
- Refused, and with them the folder: pickles and Python files (both can run code when loaded), links (they may point
  anywhere), names with odd characters. A folder that holds a pickle beside safetensors is refused too: nobody could say
  which of the two was meant.
- Left out, and named: everything else, folders included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

from model_store.manifest import path_problem

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"

_TAKEN = frozenset(
    {
        CONFIG,
        TOKENIZER,
        TOKENIZER_CONFIG,
        INDEX,
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.txt",
        "vocab.json",
        "merges.txt",
        "bpe.codes",
        "spiece.model",
        "sentencepiece.bpe.model",
        "tokenizer.model",
        "README.md",
        "LICENSE",
        "LICENSE.txt",
        "LICENSE.md",
        "NOTICE",
    }
)
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy", ".npz", ".dill", ".mar")
_CODE = (".py", ".pyc", ".pyd", ".so")


class Kind(Enum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; size and modification time (since 1970) are 0 for what is no file."""

    name: str
    kind: Kind
    size_bytes: int = 0
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """A folder's entries, sorted by name, and one sentence for each reason to refuse it."""

    taken: tuple[Entry, ...]
    left_out: tuple[str, ...]
    problems: tuple[str, ...]


def select(entries: Iterable[Entry]) -> Selection:
    """What is taken of `entries`. Missing files are not a matter of this function, see `missing_problems`."""
    taken: list[Entry] = []
    left_out: list[str] = []
    problems: list[str] = []
    for entry in sorted(entries, key=lambda entry: entry.name):
        if problem := refusal(entry):
            problems.append(problem)
        elif entry.kind is Kind.FILE and _is_taken(entry.name):
            taken.append(entry)
        else:
            left_out.append(entry.name)
    return Selection(tuple(taken), tuple(left_out), tuple(problems))


def refusal(entry: Entry) -> str | None:
    """Why `entry` may not be in a model's folder at all, as a sentence; None if it may."""
    name, lower = entry.name, entry.name.lower()
    if entry.kind is Kind.LINK:
        return f"{name!a} is a link; copy the folder with `cp -rL`, which puts the files themselves in place."
    if entry.kind is Kind.OTHER:
        return f"{name!a} is neither a file nor a folder; remove it."
    if entry.kind is Kind.FOLDER or name.startswith("."):
        return None
    if lower == "training_args.bin":
        return f"{name} is the Trainer's own pickle and is not needed to serve the model; remove it."
    if lower.endswith(_PICKLES):
        return (
            f"{name} may be a pickle, and loading a pickle can run code; load the model once where you trust it, call "
            "model.save_pretrained(new_folder, safe_serialization=True), and remove the file."
        )
    if lower.endswith(_CODE):
        return f"{name} is code, and remote code never runs here; remove it."
    if problem := path_problem(name):
        return f"The name {name!a} {problem}; rename or remove it."
    return None


def pulled_problems(names: Collection[str]) -> list[str]:
    """One sentence for each reason why files of these names would never have been published together."""
    problems = []
    for name in sorted(names):
        if problem := refusal(Entry(name, Kind.FILE)) or _nested(name):
            problems.append(problem)
        elif not _is_taken(name):
            problems.append(f"{name!a} is none of the files that a model consists of.")
    return problems + missing_problems(names)


def _nested(name: str) -> str | None:
    return f"{name!a} is in a folder; a model's files stand side by side." if "/" in name else None


def _is_taken(name: str) -> bool:
    return name in _TAKEN or name.endswith(".safetensors")


def missing_problems(names: Collection[str]) -> list[str]:
    """One sentence for each file that a model needs and `names` lack, or for weights that stand there twice."""
    problems = []
    if CONFIG not in names:
        problems.append(f"{CONFIG} is missing; model.save_pretrained(folder) writes it.")
    if TOKENIZER not in names:
        problems.append(
            f"{TOKENIZER} is missing; AutoTokenizer.from_pretrained(base_model).save_pretrained(folder) "
            "writes it for every model that has a fast tokenizer."
        )
    if WEIGHTS not in names and INDEX not in names:
        adapter = " (the folder holds an adapter: call merge_and_unload() first)" if _ADAPTER in names else ""
        problems.append(
            f"There are neither {WEIGHTS} nor {INDEX}{adapter}; "
            "model.save_pretrained(folder, safe_serialization=True) writes them."
        )
    if WEIGHTS in names and INDEX in names:
        problems.append(f"{WEIGHTS} and {INDEX} are both there, so the weights are ambiguous; remove one of them.")
    return problems


_ADAPTER = "adapter_model.safetensors"
