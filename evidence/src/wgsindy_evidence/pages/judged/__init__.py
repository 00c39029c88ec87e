"""Pages of what a verdict says of processes that are known."""
