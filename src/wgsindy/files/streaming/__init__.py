"""Tables that stay on disk and are read block by block."""
