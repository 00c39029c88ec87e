"""What the gallery holds: nulls, processes that are genuine but hard, and clean controls."""
