"""Candidate terms: formulas, monomials, libraries of both."""
