"""A generator as source code of other languages."""
