"""Values that a bill's own words and rows name, where the model has not found them."""
