"""What the JSON of a request may hold: decoded into bounded values, here or in a parser, with the same errors."""
