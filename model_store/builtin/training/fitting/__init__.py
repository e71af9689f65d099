"""What a trained model's folder gets for decoding: transitions and calibration, fitted on groups left out."""
