"""What `gleaner` can be told to do: one file for each command, assembled in `service/cli.py`."""
