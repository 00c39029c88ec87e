"""What a generator leaves of the increments, and what else may tell of it."""
