"""JSON bodies of requests: decoded into bounded values, here or in a parser, with the same errors."""
