"""The evidence for wgsindy: experiments on known systems as stored lines, documents made from them.

``wgsindy bench`` is this package behind the command line. Nothing in :mod:`wgsindy` needs it.
"""

__version__ = "0.1.0"
