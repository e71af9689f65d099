"""How good a model's answers are: labelled documents in, scores with intervals out. Does not run the model."""
