"""From rows of a table to trajectories without gaps, in order, checked."""
