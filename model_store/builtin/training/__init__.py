"""The training of the built-in model: document generator, vocabulary, partial-label loss, scoring, export.

Not imported by the service and not in the wheel. Run `python -m model_store.builtin.training --help`.
"""
