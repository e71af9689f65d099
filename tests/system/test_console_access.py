"""Who gets what of the console over HTTP, by `GLEANER_CONSOLE`, keys and address; what a browser shows is elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.extraction import TEXT
from tests.support.service import Service, serving

DIGEST = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"  # Of `secret`.
KEY = {"Authorization": "Bearer secret"}
PAGES = ("/", "/console", "/console/files/app.js", "/console/files/samples/invoice.pdf")
SHOWN = ("/console/entrance", "/console/requests", "/console/progress/one", "/console/requests/one")
ANYWHERE = "0.0.0.0"
STRANGER = {"Host": "gleaner.example"}


def statuses(service: Service, paths: tuple[str, ...], headers: dict[str, str] | None = None) -> list[int]:
    with service.client() as client:
        return [client.get(path, headers=headers).status_code for path in paths]


def live_status(service: Service, headers: dict[str, str] | None = None) -> int:
    """Of the live feed, which has no end."""
    with service.client() as client, client.stream("GET", "/console/live", headers=headers) as answer:
        return answer.status_code


def picture_status(service: Service, headers: dict[str, str] | None = None) -> int:
    """Of a picture of what is no PDF: 422 once the sender has been let in."""
    with service.client() as client:
        return client.post("/console/picture", content=b"no", headers=headers).status_code


def test_off_leaves_nothing_of_it(home: Path, tmp_path: Path) -> None:
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, CONSOLE="off", RUNTIME_DIR=tmp_path) as service:
        assert service.extract(text=TEXT).status_code == 200
        assert set(statuses(service, (*PAGES, *SHOWN))) == {live_status(service), picture_status(service)} == {404}
        assert service.get("/console").json()["code"] == "unknown_route"
        assert not list(tmp_path.glob("console-*")), "workers still listen for the console's questions"


@pytest.mark.parametrize("console", ["auto", "on"])
def test_with_keys_the_empty_page_is_for_everybody_and_what_it_shows_for_a_key(home: Path, console: str) -> None:
    with serving(
        home, MODELS="tiny", WORKERS=1, PARSERS=1, CONSOLE=console, HOST=ANYWHERE, API_KEYS=f"ada {DIGEST}"
    ) as service:
        assert set(statuses(service, PAGES)) == {200}
        assert set(statuses(service, SHOWN)) == {live_status(service), picture_status(service)} == {401}
        assert set(statuses(service, SHOWN, {"Authorization": "Bearer wrong"})) == {403}
        assert statuses(service, SHOWN, {**KEY, **STRANGER}) == [200, 200, 200, 404]
        assert (live_status(service, KEY), picture_status(service, KEY)) == (200, 422)
        with service.client() as client:
            assert client.get("/console/entrance", headers=KEY).json() == {"client": "ada"}


def test_without_keys_auto_is_open_under_a_loopback_name_only(home: Path) -> None:
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1) as service:
        assert statuses(service, (*PAGES, *SHOWN)) == [200] * 7 + [404]
        assert statuses(service, SHOWN[:1], {"Host": "localhost"}) == [200]
        assert set(statuses(service, SHOWN, STRANGER)) == {403}
        assert (live_status(service, STRANGER), picture_status(service, STRANGER)) == (403, 403)


def test_without_keys_where_others_can_reach_it_auto_is_closed_and_says_what_opens_it(home: Path) -> None:
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, HOST=ANYWHERE) as service:
        assert set(statuses(service, PAGES)) == {200}
        assert set(statuses(service, SHOWN)) == {live_status(service), picture_status(service)} == {401}
        assert "GLEANER_CONSOLE=on" in service.get("/console/entrance").json()["detail"]


def test_on_is_open_to_all_who_need_no_key(home: Path) -> None:
    with serving(home, MODELS="tiny", WORKERS=1, PARSERS=1, CONSOLE="on", HOST=ANYWHERE) as service:
        assert statuses(service, (*PAGES, *SHOWN), STRANGER) == [200] * 7 + [404]
        assert (live_status(service, STRANGER), picture_status(service, STRANGER)) == (200, 422)
