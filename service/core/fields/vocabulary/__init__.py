"""Bill vocabulary by language, and its phrase matcher."""
