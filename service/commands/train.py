"""`gleaner train`: fine-tunes a model on labelled documents; the folder it writes can be published and served.

The data are JSON lines, whose form `gleaner data --help` shows; `gleaner data convert` makes them of other tools'
files. Records of one `group` (a company, an author) are left out together. Each file is a set of its own: a label that
it never marks is taken as not looked for there, unless `--closed` says that every file has them all.

The values of a label are read by its name's words (DUE_DATE is a date), or as `--kind WHEN=date` says; kinds are
text, date, money, quantity, percent, email, url, phone, iban, bic, tax_id and card.

Documents with `pages` train a LayoutLM, LiLT or BROS on the places of their words; `--layout` first makes a LayoutLM
of a text model (BERT, RoBERTa, XLM-R, CamemBERT, or the built-in one). Texts without pages may be among them.

The same command goes on with a training that was interrupted. One that has ended goes on with `--from OLD --out NEW`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from model_store.builtin import model_folder
from model_store.families.registry import FAMILIES, family_name
from service.core.decoding.value import ValueKind
from service.core.errors import InvalidOptions
from service.environment import child_environment
from service.training.options import TrainingOptions, taken_folder

BUILTIN = "builtin"
DEFAULTS = TrainingOptions(data=(), base="", out="")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("data", nargs="+", type=Path, metavar="DATA", help="JSON lines, or folders of them")
    parser.add_argument("--from", dest="base", default=BUILTIN, metavar="builtin|DIR", help="model to start from")
    parser.add_argument("--layout", action="store_true", help="make a LayoutLM of it, which sees where words stand")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder for the new model")
    parser.add_argument(
        "--kind",
        dest="kinds",
        action="append",
        default=[],
        metavar="LABEL=KIND",
        help="how the values of a label are read, such as WHEN=date; may be repeated",
    )
    parser.add_argument("--closed", action="store_true", help="every file has all labels marked")
    parser.add_argument("--epochs", type=int, default=DEFAULTS.epochs, metavar="N", help="most passes (%(default)s)")
    parser.add_argument(
        "--patience",
        type=int,
        default=DEFAULTS.patience,
        metavar="N",
        help="passes without a better score (%(default)s)",
    )
    parser.add_argument("--minutes", type=float, metavar="N", help="end after this time at the latest")
    parser.add_argument(
        "--left-out",
        type=int,
        default=DEFAULTS.left_out_percent,
        metavar="PERCENT",
        help="of the text, to score on (%(default)s)",
    )
    parser.add_argument("--rate", type=float, default=DEFAULTS.rate, help="highest learning rate (%(default)s)")
    parser.add_argument(
        "--batch-tokens",
        type=int,
        default=DEFAULTS.batch_tokens,
        metavar="N",
        help="most tokens of a batch (%(default)s)",
    )
    parser.add_argument("--seed", type=int, default=DEFAULTS.seed, help="of all that is drawn (%(default)s)")
    parser.add_argument(
        "--threads", type=int, default=DEFAULTS.threads, metavar="N", help="of the CPU; 0 for one a core"
    )
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default=DEFAULTS.device)
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Train in a separate process; returns its exit code."""
    encoded = msgspec.json.encode(options_of(chosen)).decode()
    command = [sys.executable, "-m", "service.training", encoded]
    with tempfile.TemporaryDirectory(prefix="gleaner-train-") as folder:
        process = subprocess.Popen(command, env=child_environment(Path(folder)))
        while True:
            with suppress(KeyboardInterrupt):  # The process gets the terminal's signal too, and ends by itself.
                return process.wait()


def kinds_of(entries: Iterable[str]) -> dict[str, ValueKind]:
    """Read the kinds of values by label. Raises InvalidOptions."""
    kinds: dict[str, ValueKind] = {}
    for entry in entries:
        label, kind = (part.strip() for part in entry.rpartition("=")[::2])
        if not label or kind not in tuple(ValueKind):
            raise InvalidOptions(f"--kind takes LABEL=KIND, not {entry[:50]!r}; kinds are {', '.join(ValueKind)}")
        if kinds.setdefault(label, ValueKind(kind)) != kind:
            raise InvalidOptions(f"--kind: {label} is both {kinds[label]} and {kind}")
    return kinds


def options_of(chosen: argparse.Namespace) -> TrainingOptions:
    """Read the training's options. Raises InvalidOptions for numbers that make no sense."""
    for name, least, most in (
        ("epochs", 1, 10_000),
        ("patience", 1, 10_000),
        ("left_out", 0, 50),
        ("batch_tokens", 16, 1 << 24),
    ):
        if not least <= getattr(chosen, name) <= most:
            raise InvalidOptions(f"--{name.replace('_', '-')} takes {least} to {most}")
    if not 0 < chosen.rate < 1:
        raise InvalidOptions("--rate takes a learning rate, such as 1e-4")
    if chosen.minutes is not None and not chosen.minutes > 0:
        raise InvalidOptions("--minutes takes a time above 0")
    if problem := taken_folder(chosen.out):
        raise InvalidOptions(f"--out: {problem}")
    base = model_folder() if chosen.base == BUILTIN else Path(chosen.base)
    if not FAMILIES[family_name(base)].has_labels:
        raise InvalidOptions(f"--from takes a token classifier; {base} is a model that is given its labels")
    if not (base / "config.json").exists():
        raise InvalidOptions(f"--from takes `{BUILTIN}` or the folder of a model; {base} has no config.json")
    return TrainingOptions(
        data=tuple(str(path) for path in chosen.data),
        base=str(base),
        out=str(chosen.out),
        layout=chosen.layout,
        closed=chosen.closed,
        epochs=chosen.epochs,
        patience=chosen.patience,
        minutes=chosen.minutes,
        left_out_percent=chosen.left_out,
        rate=chosen.rate,
        batch_tokens=chosen.batch_tokens,
        kinds=kinds_of(chosen.kinds),
        seed=chosen.seed,
        threads=chosen.threads,
        device=chosen.device,
    )
