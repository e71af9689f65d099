"""Logits to entities: windows merged, tags to spans, spans to characters, values normalized."""
