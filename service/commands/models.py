"""`gleaner models`: publish, pull, list, verify, roll back and clean up, in the local store and in a remote one."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from model_store.reference import DEFAULT_TAG
from service.environment import service_url

Run = Callable[[argparse.Namespace], int]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their options."""
    parser.description = __doc__
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    local = argparse.ArgumentParser(add_help=False)
    local.add_argument("--store", type=Path, help="instead of GLEANER_MODEL_STORE")
    both = argparse.ArgumentParser(add_help=False, parents=[local])
    both.add_argument("--remote", help="instead of GLEANER_MODEL_REMOTE; '' for none")
    _add_publish(actions, both)
    _add_pull(actions, both)
    _add_list(actions, both)
    _add_verify(actions, local)
    _add_rollback(actions, both)
    _add_canary(actions, both)
    _add_gc(actions, local)


def _add_publish(actions: Any, both: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("publish", parents=[both], help="store a Hugging Face folder under a name")
    parser.add_argument("folder", type=Path, metavar="DIR", help="config.json, tokenizer.json, *.safetensors")
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--tag", default=DEFAULT_TAG, help=f"what to call this revision (default: {DEFAULT_TAG})")
    parser.add_argument("--golden", type=Path, help="labelled documents that it must get right here, and in services")
    for name in ("base-model", "data", "commit"):
        parser.add_argument(f"--{name}", help="provenance, kept in the manifest")
    parser.set_defaults(run=_lazy("model_actions", "run_publish"))


def _add_pull(actions: Any, both: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("pull", parents=[both], help="fetch what is missing of a model")
    parser.add_argument("model", metavar="MODEL", help="`name`, `name@tag` or `name@sha256:…`")
    parser.set_defaults(run=_lazy("model_actions", "run_pull"))


def _add_list(actions: Any, both: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("list", parents=[both], help="what is there, here and in the remote store")
    parser.set_defaults(run=_lazy("model_actions", "run_list"))


def _add_verify(actions: Any, local: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("verify", parents=[local], help="hash everything again")
    parser.add_argument("model", nargs="?", help="`name`, `name@tag` or `name@sha256:…`; all if absent")
    parser.set_defaults(run=_lazy("model_actions", "run_verify"))


def _add_rollback(actions: Any, both: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("rollback", parents=[both], help="let a tag point to its earlier revision")
    parser.add_argument("name", metavar="NAME", help="`name` or `name@tag`")
    parser.add_argument("--to", metavar="REVISION", help="to this one (sha256:…) rather than to the one before")
    parser.set_defaults(run=_lazy("model_actions", "run_rollback"))


def _add_canary(actions: Any, both: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("canary", parents=[both], help="judge a candidate beside what is served, on documents")
    parser.add_argument("name", metavar="NAME", help="its tags `stable` and `candidate` are compared")
    parser.add_argument(
        "--url", type=service_url, help="a service that serves both (GLEANER_MODELS=NAME,NAME@candidate)"
    )
    parser.add_argument("--key-file", type=Path, help="the file with its API key")
    parser.add_argument("--documents", type=Path, metavar="FOLDER", help="files to post to each of the two")
    parser.add_argument("--golden", type=Path, metavar="DATA", help="labelled documents to post and judge by, instead")
    parser.add_argument("--labels", help="for models with free labels: what to find, as in `gleaner extract`")
    parser.add_argument("--drift", type=float, default=0.1, help="most entities that only one finds (default: 0.1)")
    parser.add_argument("--slower", type=float, default=1.25, help="most of p50 and p99 over the other (default: 1.25)")
    parser.add_argument("--more-errors", type=float, default=0.0, help="further share that may fail (default: 0)")
    parser.add_argument("--promote", action="store_true", help="if it holds the limits, and is better by --golden")
    parser.add_argument("--withdraw", action="store_true", help="if it does not: `candidate` becomes `stable` again")
    parser.add_argument("--withdraw-only", action="store_true", help="compare nothing, and withdraw it")
    parser.set_defaults(run=_lazy("model_canary", "run_canary"))


def _add_gc(actions: Any, local: argparse.ArgumentParser) -> None:
    parser = actions.add_parser("gc", parents=[local], help="remove what no tag, no user and no history needs")
    parser.add_argument("--keep", type=_count, metavar="K", help="earlier revisions of each tag that stay (default: 3)")
    parser.add_argument("--budget", type=_bytes, metavar="BYTES", help="only down to this size, e.g. 20GB")
    parser.set_defaults(run=_lazy("model_actions", "run_gc"))


def _lazy(module: str, function: str) -> Run:
    """Make a function that imports `module` when it is called, so that only the chosen action's module is imported."""

    def run(chosen: argparse.Namespace) -> int:
        code: int = getattr(import_module(f"service.commands.{module}"), function)(chosen)
        return code

    return run


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no number of revisions")
    return int(text)


def _bytes(text: str) -> int:
    units = {"TB": 10**12, "GB": 10**9, "MB": 10**6, "KB": 10**3, "B": 1, "": 1}
    number = text.strip().upper().rstrip("TGMKB")
    unit = text.strip().upper()[len(number) :]
    try:
        return int(float(number) * units[unit])
    except (ValueError, KeyError, OverflowError):
        raise argparse.ArgumentTypeError(f"'{text}' is no size; write e.g. 20GB or 500MB") from None
