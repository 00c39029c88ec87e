"""report.html: what a fit found, how sure it is and whether to believe it, in one file.

``digest`` reads the data, ``page_text`` and ``facts_table`` gather sentences and numbers,
``checks`` compares the fit with its data. ``field_data`` computes what is drawn,
``figures`` draws it with Matplotlib and ``pictures`` for the page, and ``page`` fills a template.
"""

from wgsindy.report.page import render_report, write_report

__all__ = ["render_report", "write_report"]
