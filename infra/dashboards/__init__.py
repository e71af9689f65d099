"""Grafana's dashboard for people on call, built in code."""
