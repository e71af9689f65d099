"""What a model folder may hold and what its files say of themselves."""
