"""The store on this machine keeps blobs, tags and snapshots, under locks; it collects garbage and verifies."""
