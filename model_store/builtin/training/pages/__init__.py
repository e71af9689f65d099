"""Seeded generator of documents composed from structural choices, set on a page and read back as a reader would."""

from model_store.builtin.training.pages.documents import page, pages

__all__ = ["page", "pages"]
