"""Autoscaling test: local services scaled by the real policy under a step of load."""
