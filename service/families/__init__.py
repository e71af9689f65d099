"""Families of models: how each kind is served. One package a family, named in `model_store/families/registry.py`."""
