"""The parts of the console in one worker."""

from __future__ import annotations

from dataclasses import dataclass

from service.api.console.entrance import Entrance
from service.api.console.page_files import PageFiles
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Console:
    """What the console's routes share: `request.state.console`."""

    files: PageFiles
    entrance: Entrance
    on_internal_port: bool


def make_console(settings: Settings) -> Console | None:
    """The console that the settings ask for, if any."""
    if settings.console == "off":
        return None
    keyed = settings.api_keys_file is not None or bool(settings.api_keys)
    return Console(PageFiles(), Entrance(settings.console, keyed, settings.host), bool(settings.internal_port))
