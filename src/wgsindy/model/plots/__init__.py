"""Matplotlib pictures of a generator and of its forecasts: data in, Axes out."""
