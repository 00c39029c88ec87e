"""Pages of what the paper claims, beside the figures that it publishes."""
