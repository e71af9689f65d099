"""What workers ask of the engine and hear from it: intake, the table of requests, status."""
