"""Requests of workers to the engine, and answers to them: intake, the table of requests, status."""
