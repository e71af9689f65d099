"""Which doors are open, and which of them a request is for. A door that is closed is not imported."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from importlib.util import find_spec

from starlette.types import Scope

from service.api.calls import AppState
from service.api.connection.refusals import Translation
from service.api.doors.doorway import DoorMatch, DoorRoute, Doorway
from service.core.errors import GleanerError
from service.settings import BadSettings, Settings
from service.signals.routes import OTHER

Headers = Sequence[tuple[bytes, bytes]]
_PARAMETER = re.compile(r"\{(\w+)(:path)?\}")
_STATE = "door_match"
EXTRAS = {"mcp": ("mcp",), "grpc": ("grpc", "google.protobuf")}
"""The modules of each extra that a door may need."""
SETTING = {"mcp": "GLEANER_DOORS=mcp", "grpc": "GLEANER_GRPC_PORT"}


class DoorTable:
    """The open doors by the requests that are for them."""

    def __init__(self, doors: Iterable[Doorway]) -> None:
        self.doors = tuple(doors)
        self._literal: dict[tuple[str, str], list[DoorMatch]] = {}
        self._patterns: list[tuple[re.Pattern[str], str, DoorMatch]] = []
        for door in self.doors:
            for route in door.routes:
                self._add(door, route)

    def find(self, method: str, path: str, headers: Headers) -> DoorMatch | None:
        """The door that a request is for; a route that asks for a header goes before one that does not."""
        for match in self._literal.get((method, path), ()):
            if not match.route.header or any(name == match.route.header for name, _ in headers):
                return match
        for pattern, wanted, match in self._patterns:
            if wanted == method and (found := pattern.fullmatch(path)):
                return DoorMatch(match.door, match.route, found.groupdict())
        return None

    def wrong_method(self, method: str, path: str) -> tuple[Doorway, str] | None:
        """The door of a path that does not take this method, and those that it takes; None where a page may be."""
        literal = [match for (_, known), matches in self._literal.items() if known == path for match in matches]
        found = literal + [match for pattern, _, match in self._patterns if pattern.fullmatch(path)]
        if path == "/" or not found or any(each.route.method == method for each in found):
            return None
        return found[0].door, ", ".join(sorted({each.route.method for each in found}))

    def at(self, scope: Scope) -> DoorMatch | None:
        """The door that a request is for, looked for once."""
        state = scope.setdefault("state", {})
        if _STATE not in state:
            state[_STATE] = self.find(scope["method"], scope["path"], scope["headers"])
        match: DoorMatch | None = state[_STATE]
        return match

    def translation(self, method: str, path: str, headers: Headers, error: GleanerError) -> Translation | None:
        """An error of a request that was refused unread, in the words of the door that it is for."""
        match = self.find("GET" if method == "HEAD" else method, path, headers)
        if match is None:
            return None
        return Translation(match.door.name if match.route.works else OTHER, match.door.refuse(error))

    @asynccontextmanager
    async def running(self, state: AppState, settings: Settings) -> AsyncIterator[None]:
        """What the open doors need beside their routes, while the context is open."""
        async with AsyncExitStack() as stack:
            for door in self.doors:
                if door.running is not None:
                    await stack.enter_async_context(door.running(state, settings))
            yield

    def _add(self, door: Doorway, route: DoorRoute) -> None:
        match = DoorMatch(door, route)
        if "{" in route.path:
            self._patterns.append((_pattern(route.path), route.method, match))
            return
        matches = self._literal.setdefault((route.method, route.path), [])
        matches.insert(0 if route.header else len(matches), match)


def open_doors(names: Iterable[str]) -> DoorTable:
    """The doors of these names, each from the module of its name."""
    return DoorTable(import_module(f"service.api.doors.protocols.{name}").DOOR for name in names)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # Of the package that it is in.
        return False


def check_extras(settings: Settings, is_installed: Callable[[str], bool] = _is_installed) -> None:
    """Before a service starts: what its open doors import must be installed.

    Raises:
        BadSettings: names the extra that is missing.
    """
    wanted: list[str] = [name for name in settings.doors if name in EXTRAS]
    if "oip" in settings.doors and settings.grpc_port:
        wanted.append("grpc")
    for name in wanted:
        if not all(map(is_installed, EXTRAS[name])):
            raise BadSettings(f"{SETTING[name]} needs what is not installed: pip install 'gleaner[{name}]'")


def operations(table: DoorTable) -> Mapping[str, list[DoorRoute]]:
    """The routes of all open doors by path, as OpenAPI writes it."""
    found: dict[str, list[DoorRoute]] = {}
    for door in table.doors:
        for route in door.routes:
            found.setdefault(_PARAMETER.sub(r"{\1}", route.path), []).append(route)
    return found


def _pattern(path: str) -> re.Pattern[str]:
    pattern, end = "", 0
    for found in _PARAMETER.finditer(path):
        pattern += re.escape(path[end : found.start()]) + f"(?P<{found[1]}>{'.+' if found[2] else '[^/]+'})"
        end = found.end()
    return re.compile(pattern + re.escape(path[end:]))
