"""The allowlist of files: sorts the entries of a Hugging Face folder into taken, left out and refused ones. Pure.

- Taken: the files that a loader reads (config, tokenizer, vocabulary, safetensors weights), README and licence.
- Refused, and the whole folder with them: pickles and Python files (both can run code when loaded), links (they may
  point anywhere), names with special characters. A pickle beside safetensors is refused too: the weights are ambiguous.
- Left out, and reported: everything else, folders included.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import Enum

from model_store.errors import FolderProblem
from model_store.families.family import CONFIG, TOKENIZER, TOKENIZER_CONFIG
from model_store.families.registry import CONFIGS, FAMILIES
from model_store.manifest import path_problem

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
RULES = "rules.json"
"""What the model asks of rules (`service/text/rules/rule_set.py`)."""
DECODING = "decoding.json"
TRANSITIONS = "transitions.safetensors"
"""What the model asks for in decoding (`service/text/decoding_files.py`)."""
SUBFOLDERS = frozenset(name for family in FAMILIES.values() for name in family.subfolders)
"""Folders that a model may have; those that stand in them are files of the same names as beside them."""

_TAKEN = frozenset(
    {
        *(name for family in FAMILIES.values() for name in (family.config, *family.more_configs)),
        TOKENIZER,
        TOKENIZER_CONFIG,
        INDEX,
        RULES,
        DECODING,
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.txt",
        "vocab.json",
        "merges.txt",
        "bpe.codes",
        "spiece.model",
        "spm.model",
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
_ADAPTER = "adapter_model.safetensors"


class EntryKind(Enum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder; size and modification time (since 1970) are 0 unless it is a file."""

    name: str
    kind: EntryKind
    size_bytes: int = 0
    mtime_ns: int = 0


@dataclass(frozen=True, slots=True)
class Selection:
    """A folder's entries, sorted by name, and the reasons to refuse the folder."""

    taken: tuple[Entry, ...]
    left_out: tuple[str, ...]
    problems: tuple[FolderProblem, ...]


def select(entries: Iterable[Entry]) -> Selection:
    """`entries` sorted into taken, left out and refused. Missing files are found by `missing_problems`."""
    taken: list[Entry] = []
    left_out: list[str] = []
    problems: list[FolderProblem] = []
    entries = sorted(entries, key=lambda entry: entry.name)
    conversion = _conversion({entry.name for entry in entries})
    for entry in entries:
        if problem := entry_problem(entry):
            if problem.code == "pickle" and conversion:
                problem = FolderProblem("pickle", f"{entry.name} may be a pickle, which can run code; {conversion}")
            problems.append(problem)
        elif entry.kind is EntryKind.FILE and _is_taken(entry.name):
            taken.append(entry)
        else:
            left_out.append(entry.name)
    return Selection(tuple(taken), tuple(left_out), tuple(problems))


def entry_problem(entry: Entry) -> FolderProblem | None:
    """The reason to refuse a folder with this entry; None if it is harmless."""
    name, lower = entry.name, entry.name.lower()
    if entry.kind is EntryKind.LINK:
        return FolderProblem(
            "link", f"{name!a} is a link; copy the folder with `cp -rL`, which puts the files themselves in place."
        )
    if entry.kind is EntryKind.OTHER:
        return FolderProblem("special_file", f"{name!a} is neither a file nor a folder; remove it.")
    if entry.kind is EntryKind.FOLDER or name.rpartition("/")[2].startswith("."):
        return None
    if lower == "training_args.bin":
        return FolderProblem(
            "trainer_pickle", f"{name} is the Trainer's own pickle and is not needed to serve the model; remove it."
        )
    if lower.endswith(_PICKLES):
        return FolderProblem(
            "pickle",
            f"{name} may be a pickle, and loading a pickle can run code; load the model once where you trust it, call "
            "model.save_pretrained(new_folder, safe_serialization=True), and remove the file.",
        )
    if lower.endswith(_CODE):
        return FolderProblem("code", f"{name} is code, and remote code never runs here; remove it.")
    if problem := path_problem(name):
        return FolderProblem("name", f"The name {name!a} {problem}; rename or remove it.")
    return None


def manifest_problems(names: Collection[str]) -> list[FolderProblem]:
    """The reasons why files of these names cannot have been published together."""
    problems = []
    for name in sorted(names):
        if problem := entry_problem(Entry(name, EntryKind.FILE)) or _nesting_problem(name):
            problems.append(problem)
        elif not _is_taken(name):
            problems.append(FolderProblem("not_allowed", f"{name!a} is none of the files that a model consists of."))
    return problems + missing_problems(names)


def missing_problems(names: Collection[str]) -> list[FolderProblem]:
    """A problem for each required file that is not in `names`, or for weights in both forms."""
    problems = []
    if not any(name in names for name in CONFIGS):
        problems.append(FolderProblem("no_config", f"{CONFIG} is missing; model.save_pretrained(folder) writes it."))
    if TOKENIZER not in names:
        problems.append(
            FolderProblem(
                "no_tokenizer",
                f"{TOKENIZER} is missing; "
                + (
                    _conversion(names)
                    or "AutoTokenizer.from_pretrained(base_model).save_pretrained(folder) "
                    "writes it for every model that has a fast tokenizer."
                ),
            )
        )
    if WEIGHTS not in names and INDEX not in names:
        problems.append(_no_weights(names))
    if WEIGHTS in names and INDEX in names:
        sentence = f"{WEIGHTS} and {INDEX} are both there, so the weights are ambiguous; remove one of them."
        problems.append(FolderProblem("ambiguous_weights", sentence))
    return problems


def _conversion(names: Collection[str]) -> str:
    """How a folder with these files is written whole by its own library; empty where nothing special is known."""
    return next((each.conversion for each in FAMILIES.values() if each.conversion and each.config in names), "")


def _no_weights(names: Collection[str]) -> FolderProblem:
    adapter = " (the folder holds an adapter: call merge_and_unload() first)" if _ADAPTER in names else ""
    return FolderProblem(
        "only_adapter" if adapter else "no_weights",
        f"There are neither {WEIGHTS} nor {INDEX}{adapter}; "
        "model.save_pretrained(folder, safe_serialization=True) writes them.",
    )


def _nesting_problem(name: str) -> FolderProblem | None:
    sentence = f"{name!a} is in a folder; a model's files stand side by side."
    return FolderProblem("nested", sentence) if "/" in name and not _is_taken(name) else None


def _is_taken(name: str) -> bool:
    folder, _, file = name.rpartition("/")
    if folder:
        return folder in SUBFOLDERS and file in _TAKEN
    return name in _TAKEN or name.endswith(".safetensors")
