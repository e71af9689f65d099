"""Evaluation scores a model's answers: labelled documents in, scores with intervals out. Does not run the model."""
