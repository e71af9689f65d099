"""The times at which requests are due: rates over time, arrival processes, recorded traces."""
