"""report.html: what a fit found, how sure it is and whether to believe it, in one file.

``digest`` reads the data, ``page_text`` and ``facts_table`` gather sentences and numbers,
``checks`` compares the fit with its data. ``field_data`` computes what is drawn,
``figures`` draws it with Matplotlib and ``pictures`` for the page, and ``page`` fills a template.
"""

from wgsindy.report.comparison import compare
from wgsindy.report.digest import Digest, digest
from wgsindy.report.figures.fields import page_style, plot_comparison, plot_overview, save_picture
from wgsindy.report.figures.fit_figures import coefficients_csv
from wgsindy.report.figures.fit_plots import plot_residuals, plot_simulated
from wgsindy.report.figures.readout_figure import plot_readouts
from wgsindy.report.page import render_report, write_report
from wgsindy.report.record import Record

__all__ = [
    "Digest",
    "Record",
    "coefficients_csv",
    "compare",
    "digest",
    "page_style",
    "plot_comparison",
    "plot_overview",
    "plot_readouts",
    "plot_residuals",
    "plot_simulated",
    "render_report",
    "save_picture",
    "write_report",
]
