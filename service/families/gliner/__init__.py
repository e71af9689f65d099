"""GLiNER: models of the gliner library, with a prompt of labels or an encoder of their own for them."""
