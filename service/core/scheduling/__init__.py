"""Scheduling chooses the document that runs next, refuses others, and keeps the queue, without a clock."""
