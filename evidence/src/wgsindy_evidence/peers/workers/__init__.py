"""Scripts that fit one data set with one method, each in the interpreter of that method.

They are run, not imported: :mod:`wgsindy_evidence.peers.comparison` starts ``run.py`` in a fresh
process of an interpreter that need not have this package, so nothing here but ``with_wgsindy``
imports it.
"""
