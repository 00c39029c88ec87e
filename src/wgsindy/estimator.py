"""WGSINDy: trajectories in, generator out, behind scikit-learn's interface."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from wgsindy.data import Dataset, FloatArray, Trajectories, whole_number
from wgsindy.diagnostics import Diagnostics, diagnose
from wgsindy.errors import RecipeError
from wgsindy.estimate import Order, States, fit_dataset, log_likelihood, states_of
from wgsindy.files import Reading, as_dataset
from wgsindy.passes import Engine, as_engine
from wgsindy.recipes import Recipe
from wgsindy.terms import Library
from wgsindy.workflow import with_units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Steps = float | Sequence[float] | None


class WGSINDy(BaseEstimator):  # type: ignore[misc]
    """Recover drift and diffusion tensor of an Ito process from its trajectories.

    Parameters
    ----------
    library : candidate terms: ``"auto"`` lets the data choose; ``"poly3"``, ``"sqrt"``, ``"trig"``,
        a list of formulas, a Library
    recipe : ``"sharp"``, ``"paper"``, or a recipe of :mod:`wgsindy.recipes`
    order : 1 if samples are states; 2 if they are positions whose velocities were not measured;
        ``"auto"`` lets the data choose. With velocities the generator has twice as many
        coordinates: positions ``x``, then velocities ``v_x``
    random_state : seed of the only random stage, the placement of kernel centres
    threads : number of threads for passes over the data
    engine : ``dask.distributed.Client`` (or anything with ``reduce``) that runs the passes instead

    Attributes
    ----------
    generator_ : Generator
        The recovered generator.
    library_ : Library
        The candidate terms.
    fit_ : Fit
        Data, recipe and result, for whoever wants to know more.
    diagnostics_ : Diagnostics
        What limits the fit, and the verdict; made when it is first asked for.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = np.zeros((8, 2001, 2))
    >>> for n in range(2000):
    ...     x[:, n + 1] = x[:, n] * 0.98 + rng.normal(0, 0.1, (8, 2))
    >>> gen = WGSINDy(library="poly1").fit(list(x), dt=0.01).generator_
    >>> gen.equations(digits=1)
    ['b1 = -2*x', 'b2 = -2*y', 'a11 = 1', 'a12 = 0', 'a22 = 1']
    """

    def __init__(
        self,
        library: str | Sequence[str] | Library = "auto",
        recipe: str | Recipe = "sharp",
        random_state: int = 0,
        threads: int = 1,
        engine: Any = None,
        order: Order = 1,
    ) -> None:
        self.library = library
        self.recipe = recipe
        self.order = order
        self.random_state = random_state
        self.threads = threads
        self.engine = engine

    def __sklearn_clone__(self) -> Self:
        """Clone all but the engine, which both share: a connection has no copy."""
        without = copy.copy(self)
        without.engine = None
        clone: Self = super(WGSINDy, without).__sklearn_clone__()
        clone.engine = self.engine
        return clone

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        dt: Steps = None,
        t: Any = None,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Fit to measured trajectories.

        Parameters
        ----------
        X : what ``wg.read`` gives, ``Trajectories``, a ``Stream``, a data frame of any kind, one
            ``(n, d)`` array, one ``(R, n, d)`` array, or a list of ``(n_i, d)`` arrays
        dt : sampling interval of arrays, one number or one a trajectory
        t : sampling times of arrays, instead; of a data frame, the name of the column of times
        names : names of the coordinates of arrays and data frames

        Raises
        ------
        DataError, EngineError, LibraryError, RecipeError, NotEnoughDataError
            Each with the offending value and a way out.
        """
        data = as_dataset(X, dt=dt, t=t, names=names)
        self.fit_ = fit_dataset(
            data,
            self.library,
            self.recipe,
            order=self.order,
            random_state=self.random_state,
            engine=self._engine(),
        )
        if isinstance(X, Reading):
            self.fit_ = replace(self.fit_, generator=with_units(self.fit_.generator, X))
        self.library_ = self.fit_.library
        self.generator_ = self.fit_.generator
        self.n_features_in_ = data.dimension
        self.dt_ = dt  # of arrays that are scored without their own
        self.__dict__.pop("diagnostics_", None)  # of an earlier fit
        return self

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """What limits the fit, and the verdict; made when it is first asked for."""
        check_is_fitted(self)
        return diagnose(self.fit_)

    def predict(self, X: ArrayLike) -> FloatArray:
        """Drift at points ``(n, d)``."""
        check_is_fitted(self)
        return self.generator_.drift(X)

    def score(self, X: Any, y: None = None, *, dt: Steps = None, t: Any = None) -> float:
        """Mean log-likelihood of a step of data that were held out; larger is better.

        ``X``, ``dt`` and ``t`` as in :meth:`fit`; arrays without either have the step of the fit,
        so that scikit-learn's searches and cross-validation work.
        """
        return log_likelihood(self.generator_, self._given(X, dt, t), engine=self._engine())

    def states(self, X: Any = None, *, dt: Steps = None, t: Any = None) -> States:
        """What all samples together say of each state: mean and 95 % bands.

        Positions without the noise of their sensor, velocities that nobody measured, values that
        are missing in rows that have others; ``X``, ``dt`` and ``t`` as in :meth:`fit`, by default
        the fitted data. ``.to_polars()`` and ``.to_pandas()`` give a data frame,
        ``.plot("v_x")`` a picture.

        Examples
        --------
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> x, v = np.zeros((4, 2001)), np.ones(4)
        >>> for n in range(2000):
        ...     x[:, n + 1] = x[:, n] + 0.05 * v
        ...     v = v - 0.05 * (x[:, n + 1] + 0.5 * v) + rng.normal(0, 0.1, 4)
        >>> est = WGSINDy("poly1", order=2).fit(list(x), dt=0.05)
        >>> est.generator_.names, est.states().mean.shape
        (('x', 'v_x'), (8004, 2))
        """
        check_is_fitted(self)
        data = self.fit_.data if X is None else self._given(X, dt, t)
        return states_of(self.generator_, data)

    def _given(self, X: Any, dt: Steps, t: Any) -> Dataset:
        """Read data that have the coordinates of the fit, and its step unless they say another."""
        check_is_fitted(self)
        if dt is None and t is None and not isinstance(X, Dataset):
            dt = self.dt_ if isinstance(self.dt_, int | float) else None
        names = self.generator_.names[: self.n_features_in_]
        data, inputs = as_dataset(X, dt=dt, t=t, names=names), self.generator_.inputs
        if inputs and isinstance(data, Trajectories):  # as for the fit
            data = data.driven_by(inputs).complete()
        return data

    def report(self, path: str | Path, *, title: str = "Report of a fit") -> None:
        """Write a self-contained HTML page about the fit."""
        from wgsindy.report import write_report

        check_is_fitted(self)
        write_report(
            path, self.generator_, self.fit_.completed.data, self.diagnostics_, title=title
        )

    def plot(self, *, coordinates: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
        """Draw drift and noise over the density of the data; see :meth:`wgsindy.Generator.plot`."""
        from wgsindy.report import PlotSample

        check_is_fitted(self)
        states = PlotSample.of(self.fit_.completed.data).states
        return self.generator_.plot(states, coordinates=coordinates, ax=ax)

    def plot_residuals(self, coordinate: str | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the standardised residuals of a coordinate beside the normal density."""
        from wgsindy.report import plot_residuals

        check_is_fitted(self)
        return plot_residuals(
            self.generator_, self.fit_.completed.data, self.diagnostics_, coordinate, ax=ax
        )

    def plot_simulated(
        self, coordinate: str | None = None, *, what: str = "density", ax: Axes | None = None
    ) -> Axes:
        """Draw ``"density"`` or ``"autocorrelation"`` of the data beside simulated ones."""
        from wgsindy.report import plot_simulated

        check_is_fitted(self)
        return plot_simulated(
            self.generator_, self.fit_.completed.data, coordinate, what=what, ax=ax
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """Show the equations, the verdict and a picture once there is a fit, as a notebook asks."""
        if not hasattr(self, "fit_"):
            return {"text/plain": repr(self)}
        html, latex = self._repr_html_(), self._repr_latex_()
        return {"text/plain": repr(self), "text/html": html, "text/latex": latex}

    def _repr_latex_(self) -> str:
        check_is_fitted(self)
        return self.generator_._repr_latex_()

    def _repr_html_(self) -> str:
        from wgsindy.diagnostics import findings_list
        from wgsindy.model import fragment, generator_parts

        check_is_fitted(self)
        parts = [*generator_parts(self.generator_), findings_list(self.diagnostics_)]
        return fragment(self.diagnostics_.summary, *parts, note=self.fit_.recipe.name)

    def _engine(self) -> Engine:
        whole_number(self.threads, "threads", 1, RecipeError, most=4096)
        return as_engine(self.engine, self.threads)
