"""Doors: other people's protocols, each a thin translation over the one call for entities (`service/api/calls`)."""
