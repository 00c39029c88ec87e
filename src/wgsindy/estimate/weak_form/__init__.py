"""Recipe "paper": kernel-weighted rows, in the order of the paper."""
