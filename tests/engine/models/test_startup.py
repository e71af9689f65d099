"""From settings to models that run, in the order that is said, and failures that end it with a sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import msgspec
import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from model_store.local.store import Store
from model_store.remote.folder import FolderRemote
from model_store.transfer.publish import publish
from model_store.transfer.push import push
from service.core.scheduling.throughput import REACH
from service.engine.device.selection import DeviceMissing
from service.engine.execution.executor import DeviceExecutor
from service.engine.models.profiling import CPU_BATCH_TOKENS
from service.engine.models.repository import ModelRepository
from service.engine.models.startup import SHARES_PERCENT, StartupState
from service.engine.models.tag_watcher import RolloutJournal, RolloutRecord
from service.settings import Settings
from tests.support.startup import LIMIT_SECONDS, Outcome, start_up
from tests.support.tiny_models import LABELS, MAX_TOKENS, make_model


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two models."""
    home = tmp_path_factory.mktemp("home")
    for name, kind in (("tiny", "bert"), ("other", "distilbert")):
        publish(one_layer(home / name, kind), name, Store(home / "store"))
    return home / "store"


def one_layer(folder: Path, kind: str = "bert", *, seed: int = 0) -> Path:
    """A model that is soon converted."""
    return make_model(folder, kind, seed=seed, layers=1)


def first_revision(store: Path) -> str:
    """What the tag of `tiny` points to before a test moves it."""
    return ModelRepository(Settings(model_store=store)).points_to("tiny")


def edited(folder: Path, file: str, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads((folder / file).read_text())
    change(content)
    (folder / file).write_text(json.dumps(content))


def without_unknown(tokenizer: dict[str, Any]) -> None:
    tokenizer["model"]["vocab"]["[unused]"] = tokenizer["model"]["vocab"].pop("[UNK]")
    tokenizer["added_tokens"] = [each for each in tokenizer["added_tokens"] if each["content"] != "[UNK]"]


def with_a_long_template(tokenizer: dict[str, Any]) -> None:
    template = tokenizer["post_processor"]["single"]
    tokenizer["post_processor"]["single"] = [template[0]] * (MAX_TOKENS + 100) + template[1:]


def with_a_token_too_many(tokenizer: dict[str, Any]) -> None:
    token = {**tokenizer["added_tokens"][0], "id": 1 + max(tokenizer["model"]["vocab"].values()), "content": "Berlin"}
    tokenizer["added_tokens"].append(token)


def with_overflow(folder: Path) -> None:
    """Scores that are no numbers, of weights that are: publishing refuses others."""
    weights = load_file(folder / "model.safetensors")
    weights["classifier.weight"] = weights["classifier.weight"].sign() * 3e38
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


BAD: dict[str, Callable[[Path], None]] = {
    "no token for unknown words": lambda folder: edited(folder, "tokenizer.json", without_unknown),
    "more special tokens than fit": lambda folder: edited(folder, "tokenizer.json", with_a_long_template),
    "a token without an embedding": lambda folder: edited(folder, "tokenizer.json", with_a_token_too_many),
    "scores that are no numbers": with_overflow,
    "more layers than weights": lambda folder: edited(
        folder, "config.json", lambda c: c.update(num_hidden_layers=100_000)
    ),
    "no positions": lambda folder: edited(folder, "config.json", lambda c: c.update(max_position_embeddings=-5)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_revision_leaves_the_one_before_in_service_at_start(
    name: str, load: Load, store: Path, tmp_path: Path
) -> None:
    """The whole engine ended, with its other models, in each new instance of a fleet."""

    shutil.copytree(store, tmp_path / "store")
    good = first_revision(store)
    folder = one_layer(tmp_path / "bad", seed=1)
    BAD[name](folder)
    publish(folder, "tiny", Store(tmp_path / "store"))
    found = load("tiny", "other", store=tmp_path / "store").initial
    assert found is not None
    assert found.serving["tiny"] == good
    assert len(found.serving) == 2


@pytest.mark.parametrize("why", ["scores that are no numbers", "more layers than weights", "damaged", "an engine died"])
def test_a_bad_model_leaves_the_others_in_service_at_start(why: str, load: Load, store: Path, tmp_path: Path) -> None:
    """The engine ended with exit code 1, and with it the models that nothing was wrong with."""
    shutil.copytree(store, tmp_path / "store")
    folder = one_layer(tmp_path / "bad", seed=1)
    if why in BAD:
        BAD[why](folder)
    revision = publish(folder, "bad", Store(tmp_path / "store")).revision
    if why == "damaged":
        blob = (revision.folder / "model.safetensors").resolve()
        blob.chmod(0o644)
        blob.write_bytes(b"0" * blob.stat().st_size)
    died = {"bad": revision.revision} if why == "an engine died" else {}
    for names in (("bad", "tiny"), ("tiny", "bad", "other")):
        found = load(*names, store=tmp_path / "store", runtime_dir=journal(tmp_path / "run", in_trial=died))
        assert found.initial is not None, found.state.failure
        assert set(found.initial.serving) == {*names} - {"bad"}
        assert found.initial.references == names
        assert set(found.initial.failed) == {"bad"}
        assert "is not taken" in found.initial.failed["bad"].problem or why == "damaged"
    alone = load("bad", store=tmp_path / "store")
    assert (alone.initial is None) == (why != "an engine died"), "the only model: the service ends with the sentence"


def test_a_revision_that_cannot_be_fetched_leaves_the_one_before(load: Load, tmp_path: Path) -> None:
    """Its object is damaged here; a full disk is the same to an instance that starts anew."""
    source, remote = Store(tmp_path / "source"), FolderRemote(tmp_path / "remote")
    values = {"store": tmp_path / "store", "model_remote": remote.url}
    push(publish(one_layer(tmp_path / "first"), "tiny", source).revision, source, remote, tag="stable")
    good = load("tiny", **values).initial
    assert good is not None
    there = {*remote.root.rglob("*")}
    push(publish(one_layer(tmp_path / "next", seed=1), "tiny", source).revision, source, remote, tag="stable")
    (weights,) = [each for each in {*remote.root.rglob("*")} - there if each.is_file() and each.stat().st_size > 20_000]
    weights.write_bytes(b"\0" * weights.stat().st_size)
    found = load("tiny", **values).initial
    assert found is not None
    assert found.serving == good.serving
    nowhere = load("tiny", **{**values, "store": tmp_path / "empty"})
    assert nowhere.initial is None
    assert nowhere.state.failure is not None


def journal(folder: Path, **record: dict[str, str]) -> Path:
    """The folder of a service whose engine died, which left this journal."""
    folder.mkdir(exist_ok=True)
    (folder / "revisions.json").write_text(json.dumps(record))
    return folder


def test_a_revision_an_engine_died_with_at_start_leaves_the_one_before(load: Load, store: Path, tmp_path: Path) -> None:
    shutil.copytree(store, tmp_path / "store")
    newest = publish(one_layer(tmp_path / "next", seed=1), "tiny", Store(tmp_path / "store")).revision.revision
    good = first_revision(store)
    for record, served in (({}, newest), ({"in_trial": {"tiny": newest}}, good), ({"crashed": {"tiny": newest}}, good)):
        found = load("tiny", store=tmp_path / "store", runtime_dir=journal(tmp_path / "run", **record)).initial
        assert found is not None
        assert found.serving == {"tiny": served}


def test_an_engine_says_which_revision_it_tries_at_start(load: Load, store: Path, tmp_path: Path) -> None:
    run = journal(tmp_path / "run")
    seen: list[RolloutRecord] = []

    class Watched(DeviceExecutor):
        def submit_batch(self, batch: Callable[[], None], *, yields: bool = False) -> None:
            seen.append(msgspec.json.decode((run / "revisions.json").read_bytes(), type=RolloutRecord))
            super().submit_batch(batch, yields=yields)

    settings = Settings(
        model_store=store, models=("tiny",), device="cpu", dtype="float32", model_poll_seconds=0, runtime_dir=run
    )
    with Watched() as executor:
        initial = start_up(settings, executor).initial
    assert initial is not None
    assert seen[0].in_trial == initial.serving
    assert RolloutJournal(run).before == RolloutRecord(initial.serving)


@pytest.mark.parametrize("name", ["in_trial", "serving"])
def test_the_only_revision_and_one_that_served_are_tried_again(
    name: str, load: Load, store: Path, tmp_path: Path
) -> None:
    first = {"tiny": first_revision(store)}
    found = load("tiny", runtime_dir=journal(tmp_path / "run", **{name: first})).initial
    assert found is not None
    assert found.serving == first


@pytest.mark.parametrize("limit", [-1, 1e30, float("inf")])
def test_a_limit_that_is_none_is_none(limit: float, load: Load, tmp_path: Path) -> None:
    folder = one_layer(tmp_path / "m")
    edited(folder, "tokenizer_config.json", lambda c: c.update(model_max_length=limit))
    publish(folder, "m", Store(tmp_path / "store"))
    found = load("m", store=tmp_path / "store").initial
    assert found is not None
    assert found.models[0].model.status.max_tokens == MAX_TOKENS


Load = Callable[..., Outcome]


@pytest.fixture
def load(store: Path) -> Iterator[Load]:
    """Runs a start-up to its end, whichever it is."""

    def load(*models: str, store: Path = store, **values: Any) -> Outcome:
        settings = {"model_store": store, "models": models, "device": "cpu", "dtype": "float32", "threads": 1}
        made = Settings(**{"model_poll_seconds": 0, **settings, **values})
        return start_up(made, executor)

    with DeviceExecutor() as executor:
        yield load


def test_every_model_is_loaded_warmed_and_described(load: Load) -> None:
    initial = load("tiny", "other@stable").initial
    assert initial is not None
    models = [each.model.status for each in initial.models]
    assert [(model.name, model.tag, model.labels) for model in models] == [
        ("tiny", "stable", LABELS),
        ("other", "stable", LABELS),
    ]
    assert {(model.path, model.max_tokens, model.kernels) for model in models} == {
        ("converted", MAX_TOKENS, "openvino")
    }
    assert list(initial.serving) == ["tiny", "other@stable"]
    assert list(initial.serving.values()) == [model.revision for model in models]
    assert initial.dtype == "float32"
    for each in initial.models:
        (rows,) = each.model.runner.launch([np.zeros(5, dtype=np.int32)]).result()
        assert isinstance(rows, np.ndarray)
        assert rows.shape == (5, len(LABELS))


@pytest.mark.parametrize(
    ("batch_tokens", "timed_tokens", "budget_tokens"),
    [(0, CPU_BATCH_TOKENS // REACH, CPU_BATCH_TOKENS), (4_000, CPU_BATCH_TOKENS // REACH, 4_000), (1, 128, MAX_TOKENS)],
)
def test_a_batch_holds_the_longest_window_and_one_is_timed(
    load: Load, batch_tokens: int, timed_tokens: int, budget_tokens: int
) -> None:
    initial = load("tiny", "other", batch_tokens=batch_tokens).initial
    assert initial is not None
    timed = [each.timed for each in initial.models if each.timed is not None]
    assert [batch.tokens for batch in timed] == [timed_tokens] * 2
    assert all(0 < batch.seconds < LIMIT_SECONDS for batch in timed)
    assert initial.guard.budget_tokens(initial.models[0].model.revision) == budget_tokens


@pytest.mark.parametrize(
    ("models", "words"),
    [(("nobody",), "nobody"), (("tiny@candidate",), "tiny@candidate"), (("tiny", "not a name!"), "not a name!")],
)
def test_a_model_that_is_not_there_ends_the_loading_with_a_sentence(
    load: Load, models: tuple[str, ...], words: str
) -> None:
    outcome = load(*models)
    assert outcome.initial is None
    assert outcome.state.failure is not None
    assert words in outcome.state.failure


@pytest.mark.parametrize(
    ("error", "served_before", "of_the_device"),
    [
        (RuntimeError("CUDA driver error: unspecified launch failure"), False, True),
        (RuntimeError("No CUDA GPUs are available"), False, True),
        (DeviceMissing("torch sees no CUDA device"), True, True),
        (DeviceMissing("torch sees no CUDA device"), False, False),
        (ValueError("a bug"), True, False),
    ],
    ids=repr,
)
def test_a_device_that_dies_while_loading_is_lost_and_no_bad_model(
    store: Path, tmp_path: Path, error: Exception, served_before: bool, of_the_device: bool
) -> None:
    def fail(*_: object) -> NoReturn:
        raise error

    if served_before:
        RolloutJournal(tmp_path).write({"tiny": "sha256:a"})
    settings = Settings(
        model_store=store, models=("tiny",), device="cpu", model_poll_seconds=0, runtime_dir=tmp_path, threads=1
    )
    with DeviceExecutor() as executor:
        outcome = start_up(settings, executor, fail)
    assert outcome.initial is None
    assert (executor.health.failure is not None, outcome.state.failure is None) == (of_the_device, of_the_device)


def test_a_model_whose_weights_are_damaged_is_not_served(tmp_path: Path, load: Load) -> None:
    broken = tmp_path / "store"
    published = publish(one_layer(tmp_path / "m"), "m", Store(broken))
    assert published
    for path in broken.rglob("*"):
        if path.is_file() and path.stat().st_size > 20_000:
            path.chmod(0o644)
            path.write_bytes(b"\0" * 100)
    outcome = load("m", store=broken)
    assert outcome.initial is None
    assert outcome.state.failure


@pytest.mark.parametrize("models", [1, 2, 3])
def test_percent_moves_with_each_part_and_never_falls(models: int) -> None:
    state = StartupState(models=models)
    seen = [state.percent]

    def run(part: str) -> None:
        with state.timed(part):
            seen.append(state.percent)
        seen.append(state.percent)

    run("import")
    assert seen[1] > 15, "the longest part is seen at once"
    for number in range(models):
        state.fetched = (number + 1) / models
        for part in ("load", "warm-up", "measure", "prove"):
            run(part)
    run("measure")
    assert seen == sorted(seen)
    assert (seen[0], seen[-1], sum(SHARES_PERCENT.values())) == (0, 99, 100)
    assert len(set(seen)) > 8


@pytest.mark.parametrize("part", ["load", "measure", "prove"])
def test_a_part_that_is_run_again_counts_no_more_than_its_share(part: str) -> None:
    state = StartupState()
    for _ in range(5):
        with pytest.raises(ValueError, match="again"), state.timed(part):
            raise ValueError("again")
    assert state.percent == SHARES_PERCENT[part]
