"""Models from reference to revision in service: fetched, loaded, profiled, checked, switched, moved."""
