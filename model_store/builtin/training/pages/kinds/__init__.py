"""The kinds of document, each composed by the choices of its template."""
