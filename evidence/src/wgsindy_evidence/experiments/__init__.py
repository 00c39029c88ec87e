"""What makes lines: one module an experiment, its cases and its work."""
