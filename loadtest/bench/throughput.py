"""Documents per second and latency on a CPU: transformers' pipeline, inference libraries, the engine, the service.

All have the same weights and texts, and take turns; the built-in model is used without its rules.
The pipeline computes in float32, its default, at its best batch size, and also tokenizes and decodes. Libraries and the
engine alone get texts that were tokenized before. Clients of the service, on the same cores, ask without a pause, one
document a request.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx

from loadtest.bench.fixtures import MEDIAN_WORDS, SPREAD, PipelineProcess, published, run_tool, service, texts
from loadtest.bench.host import post_texts, publish_bare
from loadtest.cli import end_on_sigterm
from loadtest.scenario.workload import paragraph

BUILTIN = "built-in"
BUILTIN_DOCUMENTS, OTHER_DOCUMENTS = 96, 32
"""Documents of a round, for the built-in model and for other ones."""
BATCH_SIZES = (1, 2, 4, 8, 16, 32)
SEARCHED = 4
"""Ratio of all documents to those with which the best batch size is searched."""
CLIENTS = (1, 2, 4, 8, 16, 32)
LONE_TEXTS = {34: 16, 165: 8, 500: 4}
"""Requests of a round by the tokens of their text, which is computed alone."""
ROUNDS = 3
LIBRARIES = ("OpenVINO", "ONNX Runtime")
WAYS = {"in turn": "one text on all cores", "at once": "a text on each core"}
PYTHON = Path(sys.prefix) / "inference-libraries" / "bin" / "python"
PIPELINE_MODULE, LIBRARY_MODULE = "loadtest.bench.transformers_pipeline", "loadtest.bench.inference_libraries"
PIPELINE, ENGINE, SERVICE = "transformers' pipeline", "engine alone", "service"
Rounds = dict[str, list[float]]
"""Figures by contender, in the order of rounds."""
Entity = dict[str, Any]


class Contenders(NamedTuple):
    """Measurements by name: documents per second, and milliseconds of a lone text; and notes on them."""

    speeds: dict[str, Callable[[], float]]
    latencies: dict[str, Callable[[], float]]
    notes: list[str]


def measure(home: Path) -> None:
    """Print the tables of the built-in model and of one of BERT-base's shape."""
    for model in (BUILTIN, "bert-base"):
        measure_model(home, model, "float32")


def measure_model(home: Path, model: str, dtype: str) -> None:
    """Print documents per second, milliseconds of a lone text, and the ratios between them."""
    if not PYTHON.exists():
        raise SystemExit(f"there is no {PYTHON.parents[1]}; `make .venv/.inference-libraries` makes it")
    sample = documents(model)
    with _contenders(home, model, dtype, sample) as (speeds, latencies, notes):
        found: Rounds = {name: [] for name in (*speeds, *latencies)}
        for number in range(ROUNDS):
            for name, ask in (speeds | latencies).items():
                found[name].append(ask())
                print(f"round {number + 1} of {ROUNDS}: {name}: {found[name][-1]:.1f}", file=sys.stderr, flush=True)
    print(f"\n## {model} on a CPU, {len(sample)} documents a round\n")
    _print_table("documents a second", {name: found[name] for name in speeds}, 1)
    _print_table("milliseconds of a lone text", {name: found[name] for name in latencies}, 1)
    _print_table("ratio", ratios(found), 2)
    print("\n".join(f"- {note}" for note in notes), flush=True)


def documents(model: str) -> list[str]:
    """Texts of 156 tokens on average; those of the built-in model are prose with entities."""
    if model != BUILTIN:
        return texts(OTHER_DOCUMENTS)
    draw = Random(0)
    lengths = (min(int(draw.lognormvariate(math.log(MEDIAN_WORDS), SPREAD)) + 1, 300) for _ in range(BUILTIN_DOCUMENTS))
    return [paragraph(length, draw) for length in lengths]


def ratios(found: Rounds) -> Rounds:
    """The ratios that have aims, in each round; a library's best way is that of the best median."""
    best = max(
        (_alone(library, way) for library in LIBRARIES for way in WAYS), key=lambda name: statistics.median(found[name])
    )
    pairs = {
        f"{ENGINE} ÷ {best} (at least 0.97)": (ENGINE, best),
        f"{SERVICE}, 16 clients ÷ {ENGINE} (at least 0.85)": (_clients(16), ENGINE),
        f"{SERVICE}, 2 clients ÷ 16 clients (at least 0.9)": (_clients(2), _clients(16)),
        f"{SERVICE}, 16 clients ÷ {PIPELINE}": (_clients(16), PIPELINE),
    }
    for tokens in LONE_TEXTS:
        quickest = min(
            (_lone(library, tokens) for library in LIBRARIES), key=lambda name: statistics.median(found[name])
        )
        pairs[f"{SERVICE} ÷ {quickest} (at most 1.15)"] = (_lone(SERVICE, tokens), quickest)
    return {
        shown: [one / other for one, other in zip(found[above], found[below], strict=True)]
        for shown, (above, below) in pairs.items()
    }


@contextmanager
def _contenders(home: Path, model: str, dtype: str, sample: list[str]) -> Iterator[Contenders]:
    """Start the processes; each has computed every text before."""
    name = publish_bare(home) if model == BUILTIN else published(home, model).name
    folder, contenders = str(home / name), Contenders({}, {}, [])
    with ExitStack() as stack:
        running = stack.enter_context(service(home, MODELS=name, DTYPE=dtype))
        precision = httpx.get(f"{running.url}/models").raise_for_status().json()["models"][0]["dtype"]
        contenders.notes.append(f"{ENGINE} and {SERVICE}: {precision}")
        pipeline = stack.enter_context(closing(PipelineProcess(PIPELINE_MODULE, folder)))
        _add_pipeline(contenders, pipeline, sample, _entities(running.url, sample))
        for library in LIBRARIES:
            bfloat16 = precision == "bfloat16" and library == "OpenVINO"
            arguments = (library, folder, "bfloat16" if bfloat16 else "float32")
            process = stack.enter_context(closing(PipelineProcess(LIBRARY_MODULE, *arguments, python=str(PYTHON))))
            _add_library(contenders, process, library, sample)
            contenders.notes.append(f"{library}: {arguments[-1]}, logits within {process.greeting['difference']:.0e}")
        contenders.speeds[ENGINE] = partial(_ask_engine, home, name, dtype, sample)
        _add_service(contenders, running.port, sample)
        yield contenders


def _add_pipeline(
    contenders: Contenders, pipeline: PipelineProcess, sample: list[str], ours: list[list[Entity]]
) -> None:
    searched = sample[: len(sample) // SEARCHED]
    size = max(BATCH_SIZES, key=lambda size: _ask(pipeline, searched, batch_size=size))
    theirs = pipeline.ask(batch_size=size, texts=sample)["entities"]
    difference, differing = compare(theirs, ours)
    contenders.speeds[PIPELINE] = partial(_ask, pipeline, sample, batch_size=size)
    contenders.notes.append(f"{PIPELINE}: float32, batches of {size}")
    contenders.notes.append(f"entities of only one of {PIPELINE} and {SERVICE}: {differing:.2%}")
    contenders.notes.append(f"largest difference between scores of an entity of both: {difference:.4f}")


def _add_library(contenders: Contenders, process: PipelineProcess, library: str, sample: list[str]) -> None:
    for way in WAYS:
        process.ask(way=way, texts=[*sample, *map(_text, LONE_TEXTS)])
        contenders.speeds[_alone(library, way)] = partial(_ask, process, sample, way=way)
    for tokens, count in LONE_TEXTS.items():
        ask = partial(_ask, process, [_text(tokens)] * count, way="in turn")
        contenders.latencies[_lone(library, tokens)] = partial(_milliseconds, ask)


def _add_service(contenders: Contenders, port: int, sample: list[str]) -> None:
    for clients in CLIENTS:
        contenders.speeds[_clients(clients)] = partial(_ask_service, port, sample, clients)
    for tokens, count in LONE_TEXTS.items():
        ask = partial(_ask_service, port, [_text(tokens)] * count, 1)
        contenders.latencies[_lone(SERVICE, tokens)] = partial(_milliseconds, ask)


def _alone(library: str, way: str) -> str:
    return f"{library} alone, {WAYS[way]}"


def _clients(clients: int) -> str:
    return f"{SERVICE}, {clients} client{'s' * (clients > 1)}"


def _lone(software: str, tokens: int) -> str:
    return f"{software}, {tokens} tokens"


def _text(tokens: int) -> str:
    """A text of this many tokens, two of which are special ones."""
    return " ".join("a" * (tokens - 2))


def _ask(process: PipelineProcess, sample: list[str], **how: object) -> float:
    return len(sample) / float(process.ask(texts=sample, **how)["seconds"])


def _ask_engine(home: Path, name: str, dtype: str, sample: list[str]) -> float:
    with tempfile.TemporaryDirectory(dir=home) as folder:
        for number, text in enumerate(sample):
            (Path(folder) / f"{number:04}.txt").write_text(text)
        found = run_tool(home, "service.engine.tools.engine_benchmark", name, "0", folder, DTYPE=dtype)
    return float(found["texts_per_second"])


def _ask_service(port: int, sample: list[str], clients: int) -> float:
    answered = asyncio.run(post_texts(port, sample, 1, clients, len(sample)))
    return answered.documents / answered.seconds


def _milliseconds(ask: Callable[[], float]) -> float:
    return 1_000 / ask()


def _entities(url: str, sample: list[str]) -> list[list[Entity]]:
    with httpx.Client(base_url=url, timeout=300.0) as client, ThreadPoolExecutor(max(CLIENTS)) as clients:
        asked = ({"text": text, "aggregation": "simple"} for text in sample)
        answers = clients.map(lambda body: client.post("/extract", json=body).raise_for_status().json(), asked)
        return [answer["documents"][0]["entities"] for answer in answers]


def compare(theirs: list[list[Entity]], ours: list[list[Entity]]) -> tuple[float, float]:
    """The largest difference in score of a common entity, and the share of entities that only one of two runs has."""
    found = [{(number, e["label"], e["start"], e["end"]): e["score"] for number, entities in enumerate(run)
              for e in entities} for run in (theirs, ours)]  # fmt: skip
    both = found[0].keys() & found[1].keys()
    either = found[0].keys() | found[1].keys()
    return max(abs(found[0][key] - found[1][key]) for key in both), 1 - len(both) / len(either)


def _print_table(head: str, rows: Rounds, decimals: int) -> None:
    print(f"| {head} | median | in each round |\n|---|---|---|")
    for name, figures in rows.items():
        each = ", ".join(f"{figure:.{decimals}f}" for figure in figures)
        print(f"| {name} | {statistics.median(figures):.{decimals}f} | {each} |")
    print(flush=True)


def main() -> None:
    """`python -m loadtest.bench.throughput [MODEL …] [--dtype auto]`."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench.throughput", description=__doc__)
    parser.add_argument("models", nargs="*", default=[BUILTIN], help=f"{BUILTIN}, or a shape of random_models")
    parser.add_argument("--dtype", default="float32", help="precision of engine and service (GLEANER_DTYPE)")
    chosen = parser.parse_args()
    end_on_sigterm()
    with tempfile.TemporaryDirectory(prefix="gleaner-bench-") as home:
        for model in chosen.models:
            measure_model(Path(home), model, chosen.dtype)


if __name__ == "__main__":
    main()
