"""Grafana's two dashboards, built in code: one for people on call, one for capacity and cost."""
