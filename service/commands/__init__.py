"""The sub-commands of `gleaner`, one module each; `service/cli.py` runs them."""
