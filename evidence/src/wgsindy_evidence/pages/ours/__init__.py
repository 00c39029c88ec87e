"""Pages of what goes beyond the paper."""
