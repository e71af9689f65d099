"""The two pages that people look at, built in code: one for whoever is on call, one for capacity and cost."""
