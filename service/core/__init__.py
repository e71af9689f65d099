"""Floor 0: plain values in, plain values out. No clock, no I/O, no torch; time is passed in."""
