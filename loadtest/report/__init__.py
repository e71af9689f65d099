"""The report of a run: findings, figures and charts in one HTML file that needs no network."""
