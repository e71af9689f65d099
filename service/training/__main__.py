"""`python -m service.training OPTIONS`: one training, its options as JSON, its progress on stderr.

`gleaner train` runs it in a process of its own, because memory and threads depend on the environment.
"""

from __future__ import annotations

import logging
import sys

import msgspec

from service.core.errors import GleanerError
from service.process import die_with_parent
from service.training.finetune import train
from service.training.options import TrainingError, TrainingOptions

INTERRUPTED = 130


def main() -> int:
    """Train; exit code 1 with a sentence on stderr if that is not possible."""
    die_with_parent()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(message)s")
    logging.getLogger("service.engine.encoder").setLevel(logging.WARNING)
    options = msgspec.json.decode(sys.argv[1], type=TrainingOptions)
    try:
        train(options)
    except (TrainingError, GleanerError) as error:
        print(f"gleaner: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("gleaner: interrupted; the same command goes on from what was saved last", file=sys.stderr)
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
