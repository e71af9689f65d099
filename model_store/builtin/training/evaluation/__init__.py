"""Evaluation of a trained model, by itself and as it is served."""
