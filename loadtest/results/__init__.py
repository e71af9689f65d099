"""Results: figures of a run, assertions, comparisons, and the search for the knee."""
