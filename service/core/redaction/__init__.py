"""What goes from a text: the entities of chosen labels and their repetitions, and what stands there instead. Pure."""
