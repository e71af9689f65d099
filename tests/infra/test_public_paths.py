"""What the balancer hands on is what the service's protocol adapters answer."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest

from infra.stacks.operation_rules import MOST_VALUES
from service.api.adapters.registry import open_adapters
from service.signals.routes import ALWAYS_PUBLIC, OWN_WORK_ROUTES, PUBLIC_ADAPTERS


@pytest.mark.parametrize("name", PUBLIC_ADAPTERS)
def test_each_route_for_work_of_an_adapter_is_handed_on(name: str) -> None:
    paths, posts_only = PUBLIC_ADAPTERS[name]
    found = open_adapters([name]).operations()
    working = [(path, route.method) for path, routes in found.items() for route in routes if route.works]
    assert working
    for path, method in working:
        asked = re.sub(r"\{\w+\}", "any", path)
        assert any(fnmatchcase(asked, each) for each in paths), path
        assert method == "POST" or not posts_only


@pytest.mark.parametrize("name", PUBLIC_ADAPTERS)
def test_nothing_is_handed_on_that_no_route_of_the_adapter_answers(name: str) -> None:
    known = [re.sub(r"\{\w+\}", "any", path) for path in open_adapters([name]).operations()]
    for pattern in PUBLIC_ADAPTERS[name].paths:
        assert any(fnmatchcase(path, pattern) for path in known), pattern


def test_a_rule_has_no_more_values_than_the_balancer_takes() -> None:
    assert len(ALWAYS_PUBLIC) <= MOST_VALUES
    assert all(len(each.paths) + each.posts_only <= MOST_VALUES for each in PUBLIC_ADAPTERS.values())


def test_work_is_asked_for_by_nothing_else() -> None:
    assert set(ALWAYS_PUBLIC) == OWN_WORK_ROUTES | {"/readyz"}
