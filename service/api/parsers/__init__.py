"""Files into documents, each in a sandboxed process of its own: the queue's hands, the zygote, the parser. No HTTP."""
