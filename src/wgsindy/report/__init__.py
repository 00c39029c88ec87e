"""report.html: what a fit found, how sure it is and whether to believe it, in one file.

``plot_sample`` reads the data, ``facts`` gathers sentences and numbers, ``checks`` and ``law``
compare the fit with its data, and ``page`` fills a template with these and with pictures of
``draw``. ``record`` and ``figures`` are what else a fit writes, ``comparison`` puts two fits side
by side.
"""

from wgsindy.report.checks import plot_residuals, plot_simulated, residual_series
from wgsindy.report.comparison import compare
from wgsindy.report.facts import Origin
from wgsindy.report.figures import draw_figures
from wgsindy.report.law import plot_readouts
from wgsindy.report.page import render_report, write_report
from wgsindy.report.plot_sample import PlotSample
from wgsindy.report.record import Record, coefficients_csv

__all__ = [
    "Origin",
    "PlotSample",
    "Record",
    "coefficients_csv",
    "compare",
    "draw_figures",
    "plot_readouts",
    "plot_residuals",
    "plot_simulated",
    "render_report",
    "residual_series",
    "write_report",
]
