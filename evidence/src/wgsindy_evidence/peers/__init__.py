"""Other packages on identical trajectories: comparison, exact matches, and what they add up to."""
