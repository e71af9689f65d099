"""The command `gleaner`. Exit codes: 0 done, 1 failed, 2 used wrongly."""

from __future__ import annotations

import argparse
import sys

from model_store.errors import StoreError
from service.commands import extract, loadtest, models, plan, serve
from service.core.errors import GleanerError, InvalidOptions


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the process's exit code."""
    parser = argparse.ArgumentParser(prog="gleaner", description="Document extraction: documents in, entities out.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (serve, extract, models, plan, loadtest):
        command.add_to(commands)
    chosen = parser.parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
    except InvalidOptions as error:
        print(f"gleaner: {error}", file=sys.stderr)
        return 2
    except (GleanerError, StoreError) as error:
        print(f"gleaner: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return code


if __name__ == "__main__":
    sys.exit(main())
