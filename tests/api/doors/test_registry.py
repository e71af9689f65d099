"""Which door a request is for, what is imported for it, and refusals in its words before its body is read."""

from __future__ import annotations

import subprocess
import sys

import pytest

from service.api.doors.registry import DoorTable, check_extras, open_doors
from service.core.errors import QueueFull
from service.settings import BadSettings, Settings

ALL = ("huggingface", "sagemaker", "oip", "presidio", "comprehend", "mcp")
AMZ = ((b"x-amz-target", b"Comprehend_20171127.DetectEntities"),)


@pytest.fixture(scope="module")
def table() -> DoorTable:
    return open_doors(ALL)


@pytest.mark.parametrize(
    ("method", "path", "door", "parameters"),
    [
        ("POST", "/", "huggingface", {}),
        ("POST", "/models/org/name", "huggingface", {"model": "org/name"}),
        ("GET", "/ping", "sagemaker", {}),
        ("POST", "/endpoints/e/invocations", "sagemaker", {"endpoint": "e"}),
        ("GET", "/v2/models/m/versions/sha256:1", "oip", {"model": "m", "version": "sha256:1"}),
        ("POST", "/v2/models/m/infer", "oip", {"model": "m"}),
        ("POST", "/analyze", "presidio", {}),
        ("POST", "/mcp", "mcp", {}),
    ],
)
def test_a_path_leads_to_its_door(
    table: DoorTable, method: str, path: str, door: str, parameters: dict[str, str]
) -> None:
    match = table.find(method, path, ())
    assert match is not None
    assert (match.door.name, match.parameters) == (door, parameters)


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("POST", "/v2/models/a/b/infer"), ("POST", "/extract")])
def test_what_no_door_has_is_for_the_application(table: DoorTable, method: str, path: str) -> None:
    assert table.find(method, path, ()) is None
    assert table.wrong_method(method, path) is None


def test_at_one_path_a_header_decides(table: DoorTable) -> None:
    match = table.find("POST", "/", AMZ)
    assert match is not None
    assert match.door.name == "comprehend"
    alone = open_doors(["comprehend"])
    assert alone.find("POST", "/", ()) is None


def test_a_path_that_does_not_take_a_method_says_which_it_takes(table: DoorTable) -> None:
    found = table.wrong_method("GET", "/invocations")
    assert found is not None
    assert (found[0].name, found[1]) == ("sagemaker", "POST")
    assert open_doors([]).wrong_method("GET", "/invocations") is None


@pytest.mark.parametrize("door", ALL)
def test_a_refusal_for_load_is_in_the_door_s_words_with_its_hint(table: DoorTable, door: str) -> None:
    route = next(each for opened in table.doors if opened.name == door for each in opened.routes if each.works)
    path = route.path.replace("{model:path}", "m").replace("{model}", "m").replace("{endpoint}", "e")
    said = table.translation(
        route.method, path, AMZ if route.header else (), QueueFull("full", retry_after_seconds=2.1)
    )
    assert said is not None
    assert said.route == door
    assert said.response.status_code == 429
    assert said.response.headers["retry-after"] == "3"
    assert b"full" in bytes(said.response.body)


def test_closed_doors_are_not_imported() -> None:
    program = """
import sys
from service.api.app import create_app
from service.settings import Settings
create_app(Settings(doors=()))
print([name for name in sys.modules if "doors.protocols" in name or name in ("grpc", "mcp", "regex")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_door_whose_extra_is_missing_is_refused_before_the_start() -> None:
    check_extras(Settings(doors="mcp,oip", grpc_port=1))
    check_extras(Settings(doors="oip,presidio"), lambda _name: False)
    for settings, extra in ((Settings(doors="mcp"), "mcp"), (Settings(doors="oip", grpc_port=1), "grpc")):
        with pytest.raises(BadSettings, match=rf"gleaner\[{extra}\]"):
            check_extras(settings, lambda _name: False)


def test_the_setting_names_doors_and_none_of_them() -> None:
    assert Settings(doors="mcp, oip,mcp").doors == ("mcp", "oip")
    assert Settings(doors="none").doors == ()
    assert set(Settings().doors) <= set(ALL)
