"""What the balancer hands on is what the doors of the service answer."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest

from infra.doors import ALWAYS, DOOR_PATHS, MOST_VALUES
from service.api.doors.registry import open_doors, operations
from service.signals.routes import DOOR_ROUTES, OWN_WORK_ROUTES


@pytest.mark.parametrize("door", DOOR_PATHS)
def test_each_route_for_work_of_a_door_is_handed_on(door: str) -> None:
    paths, posts_only = DOOR_PATHS[door]
    found = operations(open_doors([door]))
    working = [(path, route.method) for path, routes in found.items() for route in routes if route.works]
    assert working
    for path, method in working:
        asked = re.sub(r"\{\w+\}", "any", path)
        assert any(fnmatchcase(asked, each) for each in paths), path
        assert method == "POST" or not posts_only


@pytest.mark.parametrize("door", DOOR_PATHS)
def test_nothing_is_handed_on_that_no_route_of_the_door_answers(door: str) -> None:
    known = [re.sub(r"\{\w+\}", "any", path) for path in operations(open_doors([door]))]
    for pattern in DOOR_PATHS[door].paths:
        assert any(fnmatchcase(path, pattern) for path in known), pattern


def test_a_rule_has_no_more_values_than_the_balancer_takes() -> None:
    assert len(ALWAYS) <= MOST_VALUES
    assert all(len(each.paths) + each.posts_only <= MOST_VALUES for each in DOOR_PATHS.values())


def test_work_is_asked_for_by_nothing_else() -> None:
    assert set(ALWAYS) == OWN_WORK_ROUTES | {"/readyz"}
    assert set(DOOR_PATHS) == DOOR_ROUTES - {"mcp", "oip-grpc"}
