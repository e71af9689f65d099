"""How good a trained model is, alone and as it is served."""
