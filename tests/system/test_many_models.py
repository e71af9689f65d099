"""Thirty models on one device whose memory holds a few: all answer rightly, and what moving costs can be seen."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from model_store.local.store import Store
from model_store.transfer.publish import publish
from tests.support.revisions import TEXTS, Made, ask, make_revision
from tests.support.service import Service, serving

MODELS = 30
ROOM = 6
"""So many of them fit the device at once."""
LIMITED = "m0"
LIMIT_TOKENS = 10
"""A second: the text of the first request takes minutes of it, longer than its answer on a slow machine."""


@dataclass(frozen=True, slots=True)
class Shared:
    """One service that all tests here share."""

    service: Service
    made: dict[str, Made]
    budget_bytes: int


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    home = tmp_path_factory.mktemp("many")
    made = {f"m{number}": make_revision(home / f"m{number}", 2 * number) for number in range(MODELS)}
    for name, each in made.items():
        publish(each.folder, name, Store(home / "store"))
    largest = max((each.folder / "model.safetensors").stat().st_size for each in made.values())
    settings = {
        "MODELS": ",".join(made),
        "MODEL_MEMORY_BYTES": ROOM * largest,
        "MODEL_RATE_LIMITS": f"{LIMITED}={LIMIT_TOKENS}",
        "MODEL_WEIGHTS": "m1=2",
        "MODEL_POLL_SECONDS": 0,
        "DTYPE": "float32",
    }
    with serving(home, **settings) as service:
        yield Shared(service, made, ROOM * largest)


def test_thirty_models_answer_though_the_device_holds_six(shared: Shared) -> None:
    draw = random.Random(3)
    names = [name for name in shared.made if name != LIMITED]
    orders = [(name, draw.choice(TEXTS)) for name in names * 3]
    draw.shuffle(orders)

    def right(order: tuple[str, str]) -> bool:
        name, text = order
        with shared.service.client() as client:
            return ask(client, text, name)[1] == shared.made[name].found[text]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(right, orders))


def test_weights_stay_within_their_budget_and_moves_are_counted(shared: Shared) -> None:
    metric = shared.service.metric
    with shared.service.client() as client:
        for name in ("m3", "m8", "m13", "m18", "m23", "m28", "m9", "m4"):
            ask(client, TEXTS[0], name)
            assert metric('gleaner_weight_bytes{place="device"}') <= shared.budget_bytes
    models = shared.service.get("/models").json()["models"]
    assert len(models) == MODELS
    assert 1 <= sum(model["place"] == "device" for model in models) <= 2 * ROOM
    moves = {direction: metric(f'gleaner_model_moves_total{{direction="{direction}"}}') for direction in ("in", "out")}
    assert moves["in"] >= MODELS - 2 * ROOM
    assert metric('gleaner_model_move_seconds_total{direction="in"}') > 0
    assert metric('gleaner_model_tokens_total{model="m4"}') > 0


def test_a_model_over_its_rate_limit_is_refused_and_others_are_not(shared: Shared) -> None:
    text = " ".join(TEXTS * 10)
    with shared.service.client() as client:
        answers = [client.post("/extract", json={"text": text, "model": LIMITED}) for _ in range(2)]
        assert answers[0].status_code == 200
        assert (answers[1].status_code, answers[1].json()["code"]) == (429, "rate_limited")
        assert int(answers[1].headers["Retry-After"]) > 1
        assert client.post("/extract", json={"text": text, "model": "m1"}).status_code == 200
    assert shared.service.metric('gleaner_refusals_total{code="rate_limited"}') == 1
