"""The store on this machine: blobs, tags, snapshots, locks, eviction, verification."""
