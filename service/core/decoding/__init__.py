"""From logits to entities: windows merged, tags decoded to spans, spans located in the text, values normalized."""
