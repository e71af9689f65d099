"""`BulkExtractor` against a server: rows for whatever files, in any process and thread."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from loadtest.service_process import KeptPort
from service.bulk.extractor import BulkExtractor
from service.core.errors import Forbidden, GleanerError
from tests.support.text_service import text_service


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with text_service() as service:
        service.refusals = {"bad": (422, "unreadable_document"), "full": (429, "queue_full")}
        yield service.url


def test_rows_are_answers_and_errors_in_the_order_of_the_files(url: str) -> None:
    with BulkExtractor(url=url, patience_seconds=0.0) as extractor:
        rows = extractor.rows(["in/a", "b", "c"], ["good", "bad", "full"])
    assert [row["key"] for row in rows] == ["in/a", "b", "c"]
    assert (rows[0]["document"]["id"], rows[0]["document"]["text"]) == ("a", "good")
    assert [row["error"] and row["error"]["code"] for row in rows] == [None, "unreadable_document", "queue_full"]
    assert {row["model"] for row in rows} == {"documents@sha256:ab"}


def test_columns_come_back_as_columns_also_after_pickling_and_closing(url: str) -> None:
    extractor = BulkExtractor(url=url)
    for each in (extractor, pickle.loads(pickle.dumps(extractor))):
        found = each({"path": ["a", "b"], "bytes": ["one", "bad"]})
        assert found["key"] == ["a", "b"]
        assert json.loads(found["document"][0])["text"] == "one"
        assert found["document"][1] is None
        assert found["error_code"] == [None, "unreadable_document"]
        each.close()
        each.close()
    assert extractor({"path": [], "bytes": []})["key"] == []
    extractor.close()


def test_threads_share_one_service(url: str) -> None:
    with BulkExtractor(url=url) as extractor, ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda number: extractor.rows([str(number)], [str(number)]), range(20)))
    assert [rows[0]["document"]["text"] for rows in found] == [str(number) for number in range(20)]


def test_what_is_wrong_with_every_file_raises(url: str) -> None:
    with pytest.raises(Forbidden):
        BulkExtractor(url=url, model="secret").rows(["a"], ["x"])
    with pytest.raises(GleanerError, match="does not answer"):
        BulkExtractor(url=f"http://127.0.0.1:{KeptPort().number}").rows(["a"], ["x"])
    with pytest.raises(ValueError, match="shorter"):
        BulkExtractor(url=url).rows(["a", "b"], ["x"])
    BulkExtractor(url=url).close()
