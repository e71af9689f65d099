"""Who gets what of the console over HTTP, by `GLEANER_CONSOLE` and keys; what a browser shows is elsewhere."""

from __future__ import annotations

from pathlib import Path

from tests.support.extraction import TEXT
from tests.support.service import Service, serving

DIGEST = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"  # Of `secret`.
KEY = {"Authorization": "Bearer secret"}
PAGES = ("/", "/console", "/console/files/app.js", "/console/files/samples/invoice.pdf")
SHOWN = ("/console/entrance", "/console/requests", "/console/progress/one", "/console/requests/one")
SMALL = {"MODELS": "tiny", "WORKERS": 1, "PARSERS": 1}
STRANGER = {"Host": "gleaner.example"}


def statuses(service: Service, paths: tuple[str, ...], headers: dict[str, str] | None = None) -> list[int]:
    with service.client() as client:
        return [client.get(path, headers=headers).status_code for path in paths]


def live_and_picture(service: Service, headers: dict[str, str] | None = None) -> tuple[int, int]:
    """The statuses of the live feed, which has no end, and of a picture of what is no PDF: 422 once it is let in."""
    with service.client() as client:
        picture = client.post("/console/picture", content=b"no", headers=headers).status_code
        with client.stream("GET", "/console/live", headers=headers) as answer:
            return answer.status_code, picture


def test_off_leaves_nothing_of_it(home: Path, tmp_path: Path) -> None:
    with serving(home, **SMALL, CONSOLE="off", RUNTIME_DIR=tmp_path) as service:
        assert service.extract(text=TEXT).status_code == 200
        assert {*statuses(service, (*PAGES, *SHOWN)), *live_and_picture(service)} == {404}
        assert service.get("/console").json()["code"] == "unknown_route"
        assert not list(tmp_path.glob("console-*")), "workers still listen for the console's questions"


def test_the_empty_page_is_for_all_and_what_it_shows_for_a_key(home: Path) -> None:
    with serving(home, **SMALL, HOST="0.0.0.0", API_KEYS=f"ada {DIGEST}") as service:
        assert set(statuses(service, PAGES)) == {200}
        assert {*statuses(service, SHOWN), *live_and_picture(service)} == {401}
        assert set(statuses(service, SHOWN, {"Authorization": "Bearer wrong"})) == {401}
        assert statuses(service, SHOWN, {**KEY, **STRANGER}) == [200, 200, 200, 404]
        assert live_and_picture(service, KEY) == (200, 422)
        assert service.get("/console/entrance").json()["code"] == "unauthenticated"
        with service.client() as client:
            assert client.get("/console/entrance", headers=KEY).json()["client"] == "ada"


def test_without_keys_it_is_open_under_a_loopback_name_only(home: Path) -> None:
    with serving(home, **SMALL) as service:
        assert statuses(service, (*PAGES, *SHOWN)) == [200] * 7 + [404]
        assert statuses(service, SHOWN[:1], {"Host": "localhost"}) == [200]
        assert {*statuses(service, SHOWN, STRANGER), *live_and_picture(service, STRANGER)} == {403}
        assert {*statuses(service, ("/metrics", "/models", "/openapi.json", "/readyz"), STRANGER)} == {403}
