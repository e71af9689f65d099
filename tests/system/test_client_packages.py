"""Both clients as their users have them: packages, installed apart from the service, against the built-in model."""

from __future__ import annotations

import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, Route

from tests.support.browser import chromium
from tests.support.client_packages import BUILT, NPM, PYTHON, ROOT, TYPES, TYPESCRIPT, node, typescript_types
from tests.support.service import Service, serving

URL = "http://127.0.0.1:8080"
SECONDS = 120.0
HERE = ROOT / "tests" / "client" / "typescript"


@pytest.fixture(scope="module")
def builtin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(Path(tmp_path_factory.mktemp("builtin"))) as service:
        yield service


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the packed TypeScript client, installed by npm, and the tests of it."""
    folder = Path(tmp_path_factory.mktemp("javascript"))
    (packed,) = BUILT.glob("*.tgz")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    node(NPM, "install", "--offline", "--no-audit", "--no-fund", packed, folder=folder)
    shutil.copytree(HERE, folder, dirs_exist_ok=True)
    return folder


def example(readme: Path, language: str) -> str:
    """The one example of a language in a document."""
    (code,) = re.findall(rf"^```{language}\n(.*?)^```", readme.read_text(), re.DOTALL | re.MULTILINE)
    return str(code)


def python(code: str, folder: Path = ROOT) -> str:
    """What a program printed where the Python client is all there is."""
    done = subprocess.run([PYTHON, "-Ic", code], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stdout


def test_the_python_client_needs_nothing_of_the_service() -> None:
    code = "import sys, gleaner; print(gleaner.Client.__module__, *{m.partition('.')[0] for m in sys.modules})"
    first, *modules = python(code).split()
    assert first == "gleaner.clients"
    assert not {"torch", "fastapi", "numpy", "service", "model_store"} & set(modules)


def test_the_python_example_runs(builtin: Service) -> None:
    code = example(ROOT / "service" / "client" / "README.md", "python").replace(URL, builtin.url)
    assert python(code) == "invoice (1, 1) 1253.07\n0 ['Jane Doe']\n1 []\n"


def test_service_and_client_side_by_side_share_no_file(tmp_path: Path) -> None:
    """As pip puts both into one folder: `gleaner` is the client, and of either one the other works alone."""
    ours = [ROOT / "gleaner.py", *(ROOT / "service").rglob("*.py")]
    for path in ours:
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    (wheel,) = BUILT.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert not [name for name in packed.namelist() if (tmp_path / name).exists()]
        packed.extractall(tmp_path)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import gleaner; print(gleaner.Client.__module__)"
    assert python(code) == "gleaner.clients\n"
    assert python(f"{code}; import service.client; print(service.client.__name__)").endswith("service.client\n")
    shutil.rmtree(tmp_path / "gleaner")
    assert python(code) == "service.client.clients\n"


def test_the_types_are_those_of_the_service(builtin: Service) -> None:
    assert TYPES.read_text() == typescript_types(builtin.get("/openapi.json").json()), "run `make docs`"


def test_the_packed_client_holds_the_build_alone(installed: Path) -> None:
    package = installed / "node_modules" / "gleaner-client"
    files = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    assert {"package.json", "README.md", "dist/index.js", "dist/index.d.ts"} <= files
    assert not [name for name in files if name.endswith((".test.mjs", "lock.json")) or name.startswith("src")]
    assert [path.name for path in (installed / "node_modules").iterdir() if path.is_dir()] == ["gleaner-client"]


def test_what_users_write_compiles_strictly(installed: Path) -> None:
    tsc = TYPESCRIPT / "node_modules" / "typescript" / "bin" / "tsc"
    libraries = ("--target", "ES2022", "--lib", "ES2022,DOM,DOM.Iterable", "--noUncheckedIndexedAccess")
    for module, resolution in (("NodeNext", "NodeNext"), ("ESNext", "Bundler")):
        ways = ("--module", module, "--moduleResolution", resolution, "--exactOptionalPropertyTypes")
        node(tsc, "--strict", "--noEmit", *libraries, *ways, "usage.ts", folder=installed)


@pytest.mark.parametrize("name", ["service", "retries"])
def test_the_tests_of_node_pass(builtin: Service, installed: Path, name: str) -> None:
    samples = str(ROOT / "loadtest" / "samples")
    said = node("--test", f"{name}.test.mjs", folder=installed, GLEANER_URL=builtin.url, SAMPLES=samples)
    assert re.search(r"^(?:#|ℹ) fail 0$", said, re.MULTILINE), said[-3_000:]
    assert not re.search(r"^(?:#|ℹ) pass 0$", said, re.MULTILINE), said[-3_000:]


def test_the_typescript_example_runs(builtin: Service, installed: Path) -> None:
    code = example(TYPES.parents[1] / "README.md", "js").replace(URL, builtin.url)
    (installed / "example.mjs").write_text(code)
    shutil.copy(ROOT / "loadtest" / "samples" / "invoice.pdf", installed)
    assert node("example.mjs", folder=installed) == "PERSON Jane Doe\ninvoice 1253.07\n0 [ 'Jane Doe' ]\n1 []\n"


PAGE = """<!doctype html><script type="module">
import { Client } from "/try/index.js";
const file = new File(["Jane Doe, Berlin"], "note.txt");
const client = new Client({ url: URL_OF_SERVICE, retries: { seconds: 0 } });
const asked = client.extract(file, { labels: ["PERSON"] });
document.title = await asked.then(({ entities }) => entities[0].text, (error) => error.name);
</script>"""


@pytest.mark.parametrize(("origin", "title"), [(None, "Jane Doe"), ("http://other.example", "Unreachable")])
def test_a_page_may_ask_a_service_of_its_own_origin_alone(
    builtin: Service, installed: Path, origin: str | None, title: str
) -> None:
    """In a browser; the service sends no CORS headers."""
    built = installed / "node_modules" / "gleaner-client" / "dist"

    def serve(route: Route) -> None:
        name = route.request.url.rpartition("/try/")[2]
        if name:
            route.fulfill(body=(built / name).read_text(), content_type="text/javascript")
        else:
            route.fulfill(body=PAGE.replace("URL_OF_SERVICE", repr(builtin.url)), content_type="text/html")

    with chromium() as browser:
        page: Page = browser.new_page()
        page.route("**/try/**", serve)
        page.goto(f"{origin or builtin.url}/try/")
        page.wait_for_function("document.title !== ''")
        assert page.title() == title
    asked = {"Origin": "http://other.example", "Access-Control-Request-Method": "POST"}
    answer = httpx.options(f"{builtin.url}/extract", headers=asked)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]
