"""The result: drift and tensor as a generator, with formulas and error bars."""
