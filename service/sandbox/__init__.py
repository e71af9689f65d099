"""The sandbox of a process that reads hostile files: what it may cost, see and call. Linux's own means, no library."""
