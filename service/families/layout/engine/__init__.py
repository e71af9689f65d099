"""Models that see pages, in the engine: what is read of a folder, with torch."""
