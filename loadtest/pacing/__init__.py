"""When requests are due: pure functions of elapsed seconds and a seed; no clock, no socket."""
