"""The open-loop HTTP client: requests leave on schedule, whatever comes back."""
