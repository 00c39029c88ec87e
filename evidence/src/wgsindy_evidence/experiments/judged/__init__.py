"""What a verdict says of processes that are known: the whole zoo, and linear forms."""
