"""The store that a fleet shares: S3 or a folder, behind one protocol."""
