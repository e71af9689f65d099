"""A `gleaner serve` of our own: started, waited for, stopped."""
