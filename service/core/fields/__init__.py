"""Fields of bills and résumés: chooses one of the document's entities for each role."""
