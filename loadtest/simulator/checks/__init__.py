"""The simulator beside what it stands for: queueing theory, and one real service."""
