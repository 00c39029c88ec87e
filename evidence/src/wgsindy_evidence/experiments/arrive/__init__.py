"""Does a fit arrive, whatever the data? Random systems seen in random ways, and two hard tables."""
