"""What was not measured: velocities of positions, single values, and first or second order."""
