"""From a document to its entities in a worker: parser processes, tokenizing, inference, decoding. No HTTP."""
