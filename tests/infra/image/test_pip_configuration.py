"""This machine's pip configuration, handed on to a build."""

from __future__ import annotations

from pathlib import Path

from infra.image.pip_configuration import CONNECTION, read_configuration

LISTING = """\
:env:.cert='/etc/ca.crt'
:env:.default-timeout='180'
:env:.disable-pip-version-check='1'
:env:.find-links='/wheels'
global.extra-index-url='file:///index/simple https://packages.example/simple'
global.find-links='/other'
"""


def test_values_are_handed_on_and_the_environment_comes_first() -> None:
    text = read_configuration(LISTING, lambda _: True).text
    assert text.splitlines() == [
        "[global]",
        "cert = /etc/ca.crt",
        "timeout = 180",
        "find-links = /wheels",
        "extra-index-url = file:///index/simple https://packages.example/simple",
    ]


def test_folders_and_files_that_are_named_are_mounted_at_their_own_place() -> None:
    configuration = read_configuration(LISTING, lambda path: path != Path("/gone"))
    assert configuration.paths == (Path("/etc/ca.crt"), Path("/wheels"), Path("/index"))
    mounts = configuration.mounts(Path("/made/pip.conf"))
    assert mounts[Path("/made/pip.conf")] == Path("/etc/pip.conf")
    assert mounts[Path("/wheels")] == Path("/wheels")


def test_what_does_not_exist_is_not_mounted() -> None:
    assert read_configuration(LISTING, lambda _: False).paths == ()


def test_a_machine_without_configuration_hands_on_an_empty_one() -> None:
    assert read_configuration("").text == "[global]\n"


def test_how_to_connect_can_be_handed_on_without_where_to() -> None:
    configuration = read_configuration(LISTING, lambda _: True, CONNECTION)
    assert configuration.text == "[global]\ncert = /etc/ca.crt\ntimeout = 180\n"
    assert configuration.paths == (Path("/etc/ca.crt"),)
