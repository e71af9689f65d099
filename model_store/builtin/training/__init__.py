"""How the built-in model was made: generator of documents, vocabulary, partial-label training, scoring, export.

Nothing here is imported by the service. Run `python -m model_store.builtin.training --help`.
"""
