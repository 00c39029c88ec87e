"""Files and frames of each kind -> tables."""
