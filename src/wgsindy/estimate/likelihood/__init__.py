"""Recipe "sharp": every increment by its own noise, terms by evidence."""
