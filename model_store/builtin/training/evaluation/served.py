"""A running service as a tagger: the model with the service's precision and decoding."""

import httpx

from model_store.builtin.training.labels import Span

ANSWER_SECONDS = 300.0


class ServedTagger:
    """A service at a URL: text of any length → spans.

    Raises:
        httpx.HTTPError: from `tag`, if the service is down or refuses.
    """

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=ANSWER_SECONDS)

    def tag(self, text: str) -> list[Span]:
        """The spans of the service's answer."""
        answer = self._client.post("/extract", json={"documents": [{"text": text}]}).raise_for_status().json()
        document = answer["documents"][0]
        if document["error"] is not None and text.strip():
            raise httpx.HTTPError(document["error"]["detail"])
        return [Span(each["start"], each["end"], each["label"]) for each in document["entities"]]
