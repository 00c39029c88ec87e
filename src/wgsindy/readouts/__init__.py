"""What a generator tells: density, currents, relaxation, escape, each with error bars."""
