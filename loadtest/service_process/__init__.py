"""`gleaner serve` as a process: started on a free port, awaited, stopped."""
