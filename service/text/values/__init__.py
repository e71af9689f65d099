"""Values of entities: texts are read to typed values, helped by their document's language, country and dates."""
