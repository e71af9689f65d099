"""The console: a page that shows what was found in a document, one request's way, and the engine at work."""
