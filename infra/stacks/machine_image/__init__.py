"""The machine image stack: a pipeline of EC2 Image Builder that puts the container image into AWS's GPU image."""
