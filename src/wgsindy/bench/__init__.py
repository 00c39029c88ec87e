"""Campaigns: many cases in parallel, one JSON line each, resumable; tables made from the lines."""
