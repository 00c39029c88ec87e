"""Samples that do not show the state: a sensor with noise, values and velocities unseen."""
