"""What the columns of a table are: states, times, identifiers, units."""
