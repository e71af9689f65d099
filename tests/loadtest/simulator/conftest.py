"""The example fleet's template."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra.environments import ENVIRONMENTS
from tests.support.synthesis import synthesized


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthesized(tmp_path_factory) / f"{ENVIRONMENTS[0].fleet}-fleet.template.json"
