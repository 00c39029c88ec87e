"""Sums over data: where they run, and the first of them."""
