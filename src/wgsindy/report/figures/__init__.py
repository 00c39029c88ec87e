"""Figures of a fit for print."""
