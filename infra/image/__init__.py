"""The container image: what its layers install, building it with whatever engine there is, and trying it out."""
