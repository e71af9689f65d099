"""Commands of the documents, run as they stand there, in a copy of the repository as it is cloned.

`curl` lines and Python lines are in `test_readme.py` and `adapters/test_page.py`. What needs an account, a container
engine or hours is in `NOT_RUN`, with the reason; a command that is neither run nor named there fails.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from loadtest.service_process import KeptPort
from service.environment import PREFIX
from tests.support.service import START_SECONDS, wait_until
from tests.support.source_tree import ROOT
from tests.support.tiny_models import make_model

SHELLS = ("console", "bash", "sh")
BLOCK = re.compile(rf"^ *```(?:{'|'.join(SHELLS)})\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
LIMIT_SECONDS = 280.0
NOT_RUN = {
    r"(\$ )?curl ": "test_readme.py and adapters/test_page.py ask these",
    r"grep .* LOG ": "the log of a fleet",
    r"aws |.*infra\.deploy_role": "an AWS account",
    r"gh |git tag |cosign ": "a repository on GitHub, and its releases",
    r"git pull && make run": "a remote repository; the first command of README.md is the second half",
    r"make (deploy|destroy)": "an AWS account; tests/infra/test_deploying.py runs the dry run",
    r"make image|docker |kubectl |helm |prometheus ": "a container engine, a cluster, or a server",
    r"printf .*> keys$": "a cluster's secret",
    r"make (test|infra)$": "they run tests; what they make is made here by the command in them",
    r"make (loadtest|chaos|bench|gpu)": "minutes to hours; tests/loadtest runs them at a small size",
    r".*-m loadtest\.bench": "minutes of load, and libraries beside the service's",
    r".*loadtest --find-knee": "ten minutes; tests/loadtest/test_cli.py runs it with shorter trials",
    r".*simulate wave --release": "reads what --find-knee writes",
    r"gleaner bulk (estimate|start|status) ": "buckets and a queue; tests/commands/test_bulk_fleet.py has some",
    r"gleaner models .*\$BUCKET": "a bucket; model_store/README.md has these with a folder",
    r"pip install \./service/client|cd service/client/typescript|npm ": "a registry; tests/client builds both packages",
    r"printf 'flood|.*(gleaner serve &|--key (flood|modest))": "minutes of load",
}
"""Beginning of a command → why it is not run here."""


def commands(document: str) -> list[str]:
    """The shell commands of a document, line by line, without comments and the answers below them."""
    lines = "".join(BLOCK.findall((ROOT / document).read_text())).splitlines()
    plain = (re.sub(r" {2,}#.*", "", line).strip() for line in lines)
    return [line for line in plain if line and line[0] not in '{["']


def reason(command: str) -> str | None:
    """Why a command is not run; None for one that is."""
    return next((why for start, why in NOT_RUN.items() if re.match(start, command)), None)


def documents() -> list[str]:
    kept = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in kept.split() if BLOCK.search((ROOT / name).read_text())]


def run_of(document: str, word: str = "") -> list[str]:
    """The commands of a document that are run, those that hold a word."""
    return [each for each in commands(document) if reason(each) is None and word in each]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository's files in another folder, with this environment."""
    folder = tmp_path_factory.mktemp("clone")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").mkdir()
    for path in (ROOT / ".venv").iterdir():
        if path.name.startswith("."):  # A stamp of make's, newer than the files above: nothing is installed again.
            (folder / ".venv" / path.name).touch()
        else:
            (folder / ".venv" / path.name).symlink_to(path)
    return folder


@pytest.fixture
def environment(tmp_path: Path, clone: Path) -> dict[str, str]:
    """A newcomer's environment: a home of its own, no settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    here = f"{clone / '.venv' / 'bin'}:{Path(sys.executable).parent}:{kept['PATH']}"
    return {**kept, "HOME": str(tmp_path), "PATH": here, "TMPDIR": str(tmp_path)}


def run(command: str, clone: Path, environment: dict[str, str]) -> str:
    """Run a command in the clone; what it prints."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=clone, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def serve(command: str, clone: Path, environment: dict[str, str]) -> None:
    """Run `… make run` on a free port until it is ready, then stop it as Ctrl-C does."""
    port = KeptPort()
    ask = ["curl", "-sf", f"http://127.0.0.1:{port.number}/readyz"]
    with subprocess.Popen(
        ["bash", "-c", f"{command} PORT={port.number}"], cwd=clone, env=environment, start_new_session=True
    ) as process:
        try:
            wait_until(lambda: subprocess.run(ask, capture_output=True).returncode == 0, START_SECONDS)
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(60)


def write_records(path: Path, label: str = "PERSON") -> None:
    """Labelled notes of ten groups."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(30):
        name = ("Ida Berg", "Bo Lund", "Ramipril")[number % 3]
        entities = [{"start": 8, "end": 8 + len(name), "label": label}]
        lines.append({"text": f"Paid by {name} on day {number}", "entities": entities, "group": f"g{number // 3}"})
    path.write_text("\n".join(map(json.dumps, lines)))


def write_forms(folder: Path) -> None:
    """Labelled forms as FUNSD has them, a line of three words each."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(12):
        words = [
            {"text": text, "box": [60 * place, 10, 60 * place + 50, 20]}
            for place, text in enumerate(("Name:", ("Ida", "Bo", "Ole")[number % 3], str(number)))
        ]
        labels = ("question", "answer", "other")
        form = [{"label": label, "words": [word]} for label, word in zip(labels, words, strict=True)]
        (folder / f"{number}.json").write_text(json.dumps({"form": form}))


RUN = {
    "INSTALL.md",
    "README.md",
    "model_store/README.md",
    "loadtest/README.md",
    "SECURITY.md",
    "service/bulk/README.md",
}
"""Documents with commands that are run here; each has its tests below."""


def test_every_command_is_run_or_has_a_reason() -> None:
    every = [(name, each) for name in documents() for each in commands(name)]
    assert {name for name, each in every if reason(each) is None} == RUN
    assert [start for start in NOT_RUN if not any(re.match(start, each) for _, each in every)] == []


def test_the_commands_that_uninstall_leave_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    checkout, store = tmp_path / "checkout", tmp_path / ".cache" / "gleaner" / "models"
    for folder in (checkout / ".venv" / "lib", checkout / ".mypy_cache", checkout / "gleaner_service.egg-info", store):
        folder.mkdir(parents=True)
    shutil.copy2(ROOT / "Makefile", checkout)
    for command in run_of("INSTALL.md"):
        run(command, checkout, environment)
    assert [path.name for path in checkout.iterdir()] == ["Makefile"]
    assert not store.parent.exists()


def test_the_first_command_of_all(clone: Path, environment: dict[str, str]) -> None:
    serve(commands("README.md")[0], clone, environment)


def test_redaction_of_the_first_page(clone: Path, environment: dict[str, str]) -> None:
    (command,) = run_of("README.md", "redact")
    assert '"written": "redacted/invoice.pdf"' in run(command, clone, environment)
    assert (clone / "redacted" / "invoice.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("document", ["README.md", "service/bulk/README.md"])
def test_a_bulk_job_of_the_samples(clone: Path, environment: dict[str, str], document: str) -> None:
    (command,) = run_of(document, "gleaner bulk")
    assert "2 files: 2 answered" in run(command, clone, environment)
    assert (clone / command.split()[3] / "summary.json").exists()


def test_training_of_the_first_page(clone: Path, environment: dict[str, str]) -> None:
    """With a label that the built-in model has, and one that it lacks."""
    write_records(clone / "labelled" / "people.jsonl")
    write_records(clone / "labelled" / "drugs.jsonl", "DRUG")
    train, publish = run_of("README.md", "models/own")
    run(train, clone, environment)
    first, _, second = publish.partition(" && ")
    assert "own@stable is sha256:" in run(first, clone, environment)
    serve(second, clone, environment)


@pytest.mark.timeout(1200)
def test_commands_of_the_store_in_their_order(clone: Path, environment: dict[str, str], tmp_path: Path) -> None:
    folder = make_model(clone / "path" / "to" / "folder", labels=("O", "B-PERSON", "I-PERSON"))
    write_records(clone / "DATA" / "train" / "mine.jsonl")
    (clone / "theirs.conll").write_text("Ida B-PERSON\nBerg I-PERSON\n\nBo B-PERSON\npaid O\n")
    (clone / "examples.jsonl").write_text(
        '{"text": "Ida Berg", "entities": [{"start": 0, "end": 8, "label": "PERSON"}]}\n'
    )
    write_forms(clone / "FUNSD" / "training_data" / "annotations")
    for name in ("made_up", "public"):
        (clone / name).mkdir()
        shutil.copy(clone / "loadtest" / "samples" / "invoice.pdf", clone / name)
        (clone / name / "invoice.json").write_text('{"document": "invoice.pdf", "kind": "invoice", "roles": {}}')
    for command in run_of("model_store/README.md"):
        if command.startswith("export "):
            environment["GLEANER_MODEL_REMOTE"] = (tmp_path / "remote").as_uri()
            for text in ("one", "two"):  # A tag that can be rolled back.
                (folder / "README.md").write_text(text)
                run(".venv/bin/gleaner models publish path/to/folder contracts", clone, environment)
        elif command.endswith("make run"):
            serve(command, clone, environment)
        else:
            if "--kind WHEN" in command:
                write_records(clone / "mine.jsonl", "WHEN")
            if "contracts@candidate mine" in command:
                write_records(clone / "mine.jsonl")
                run(".venv/bin/gleaner models publish path/to/folder contracts --tag candidate", clone, environment)
            run(command, clone, environment)
            if "convert" in command:
                assert (clone / "mine.jsonl").read_text().count('"PERSON"') == 2
            if "check" in command:
                write_records(clone / "mine.jsonl")


def test_keys_are_added_and_revoked(clone: Path, environment: dict[str, str]) -> None:
    run("\n".join(run_of("SECURITY.md")), clone, environment)


def test_load_of_fifteen_seconds_and_its_comparison(clone: Path, environment: dict[str, str]) -> None:
    smoke, compare, day = run_of("loadtest/README.md", "gleaner loadtest")
    smoke = smoke.replace("p99_ms<500", "p99_ms<60000")  # However busy this machine is.
    for name in ("A", "B"):
        run(f"{smoke} --out loadtest/reports/{name}", clone, environment)
    assert "p99" in run(compare, clone, environment)
    run(day, clone, environment)
    assert (clone / "day.csv").read_text().startswith("t_s,count")


def test_simulations(clone: Path, environment: dict[str, str]) -> None:
    (clone / "documents.jsonl").write_text("".join(f'{{"t_s": {n / 4}, "tokens": 412}}\n' for n in range(2_000)))
    for document in ("README.md", "loadtest/README.md"):
        for command in run_of(document, "simulate"):
            assert "in time" in run(command, clone, environment)
