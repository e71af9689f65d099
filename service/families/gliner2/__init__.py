"""GLiNER2 and GLiNER2.5: models of the gliner2 library, for entities and for records."""
