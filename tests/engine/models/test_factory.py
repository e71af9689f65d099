"""The engine's model factory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from service.engine.models.factory import sizes_of
from service.text.words.label_config import CONFIG_FILE, TRUNK_FILE
from tests.support.label_models import HOME, WITH_RECORDS


def test_models_that_differ_in_names_alone_compute_alike(tmp_path: Path) -> None:
    sizes = set()
    for number, (file, change) in enumerate(
        [
            (CONFIG_FILE, {}),
            (CONFIG_FILE, {"_name_or_path": "other"}),
            (CONFIG_FILE, {"max_len": 64}),
            (TRUNK_FILE, {"num_hidden_layers": 24}),
        ]
    ):
        folder = tmp_path / str(number)
        shutil.copytree(HOME / WITH_RECORDS, folder)
        config = json.loads((folder / file).read_text())
        (folder / file).write_text(json.dumps(config | change))
        sizes.add(sizes_of(folder, 0))
    assert len(sizes) == 3
    assert sizes_of(folder, 0) != sizes_of(folder, 1)
