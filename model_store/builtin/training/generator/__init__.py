"""Seeded generator of labelled documents: pure functions of a `random.Random`."""

from model_store.builtin.training.generator.documents import generate, generate_many

__all__ = ["generate", "generate_many"]
