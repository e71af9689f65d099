"""The store that a fleet shares: an S3 bucket or a folder, behind one protocol."""
