"""WGSINDy: trajectories in, generator out, behind scikit-learn's interface."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from wgsindy.data.arrays import FloatArray
from wgsindy.data.dataset import Dataset
from wgsindy.data.trajectories import Trajectories
from wgsindy.diagnostics import Diagnostics, diagnose
from wgsindy.errors import DataError
from wgsindy.estimate.fit import check_integer, fit_recording
from wgsindy.passes.dask_cluster import as_engine
from wgsindy.recipes import Recipe
from wgsindy.terms.library import Library


class WGSINDy(BaseEstimator):  # type: ignore[misc]
    """Recover drift and diffusion tensor of an Ito process from its trajectories.

    Parameters
    ----------
    library : candidate terms: ``"poly3"``, ``"sqrt"``, ``"trig"``, a list of formulas, a Library;
        ``"auto"`` lets the data choose
    recipe : ``"paper"``, ``"sharp"`` or a :class:`wgsindy.recipes.Recipe`
    random_state : seed of the only random stage, the placement of kernel centres
    threads : number of threads for passes over the data
    engine : ``dask.distributed.Client`` (or anything with ``reduce``) that runs the passes instead

    Attributes
    ----------
    generator_ : Generator
        The recovered generator.
    library_ : Library
        The candidate terms.
    examination_ : Examination
        Data and fit, for the checks behind the diagnostics.
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
        library: str | Sequence[str] | Library = "poly3",
        recipe: str | Recipe = "paper",
        random_state: int = 0,
        threads: int = 1,
        engine: Any = None,
    ) -> None:
        self.library = library
        self.recipe = recipe
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

    def fit(self, X: Any, y: None = None, *, dt: float | Sequence[float] | None = None) -> Self:
        """Fit to :class:`Trajectories`, to a ``Stream``, or to arrays together with ``dt``.

        Raises
        ------
        DataError, EngineError, LibraryError, RecipeError, NotEnoughDataError
            Each with the offending value and a way out.
        """
        data = _as_recording(X, dt)
        check_integer("threads", self.threads, 1, 4096)
        outcome = fit_recording(
            data,
            self.library,
            self.recipe,
            random_state=self.random_state,
            engine=as_engine(self.engine, self.threads),
        )
        self.library_ = outcome.library
        self.generator_ = outcome.generator
        self.examination_ = outcome.examination
        self.n_features_in_ = data.dimension
        self.__dict__.pop("diagnostics_", None)  # of an earlier fit
        return self

    @cached_property
    def diagnostics_(self) -> Diagnostics:
        """What limits the fit, and the verdict; made when it is first asked for."""
        check_is_fitted(self)
        return diagnose(self.examination_)

    def predict(self, X: ArrayLike) -> FloatArray:
        """Drift at points ``(n, d)``."""
        check_is_fitted(self)
        return self.generator_.drift(X)


def _as_recording(X: Any, dt: float | Sequence[float] | None) -> Dataset:
    if isinstance(X, Dataset):
        if dt is not None:
            raise DataError(f"these trajectories carry their own steps; leave out dt={dt}.")
        return X
    if dt is None:
        raise DataError("arrays need the sampling interval: pass dt=..., or Trajectories.")
    return Trajectories(X, dt)
