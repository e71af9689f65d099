"""Fields: what a document of a known kind says in each role, chosen among its entities."""
