"""Showing results: data in, figures and tables out. Nothing here computes a result."""
