"""`make fuzz`: mutated files, bodies, HTTP requests and messages against the code that reads them."""
