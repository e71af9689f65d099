"""The store on this machine: blobs, tags, snapshots, locks, garbage collection, verification."""
