"""Who may see more of the console than the empty page."""

from __future__ import annotations

from typing import Literal

import pytest

from service.api.console.console import ConsoleAccessPolicy, host_name, is_loopback
from service.core.errors import Forbidden, Unauthenticated


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:8080", "app.localhost:80", "127.9.9.9"])
def test_on_a_loopback_address_without_keys_the_console_is_open(host: str) -> None:
    ConsoleAccessPolicy("auto", keyed=False, address="127.0.0.1").check(host)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "10.0.0.1", "", "localhost.evil.example"])
def test_a_name_that_only_leads_to_this_machine_is_refused(host: str) -> None:
    with pytest.raises(Forbidden, match="localhost"):
        ConsoleAccessPolicy("auto", keyed=False, address="127.0.0.1").check(host)


@pytest.mark.parametrize("address", ["0.0.0.0", "10.1.2.3", "::", "host.example"])
def test_where_others_can_reach_it_a_console_without_keys_is_closed(address: str) -> None:
    with pytest.raises(Unauthenticated, match="GLEANER_CONSOLE=on"):
        ConsoleAccessPolicy("auto", keyed=False, address=address).check("localhost")


@pytest.mark.parametrize(("mode", "keyed"), [("auto", True), ("on", True), ("on", False)])
def test_with_keys_the_key_decides_and_with_on_nothing_does(mode: Literal["auto", "on"], keyed: bool) -> None:
    ConsoleAccessPolicy(mode, keyed=keyed, address="0.0.0.0").check("service.example")


def test_the_name_in_a_host_header_is_found() -> None:
    assert [host_name(host) for host in ("a:1", "a", "[::1]:2", "[::1]")] == ["a", "a", "::1", "::1"]
    assert is_loopback("LOCALHOST")
    assert not is_loopback("8.8.8.8")
