"""`gleaner train`: fine-tunes a token classifier on labelled documents, cut into windows as in serving."""
