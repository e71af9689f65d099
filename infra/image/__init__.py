"""The container image: lists of what its layers install, its build, and its check as a running container."""
