"""The generator of a diffusion: drift and tensor as formulas and as callable fields.

Convention, here and everywhere: Ito, dX = b dt + sigma dW, a = sigma sigma' (never a / 2),
L f = b . grad f + (1/2) a : Hess f. States ``(n, d)``, drift ``(n, d)``, tensor ``(n, d, d)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from wgsindy.data import FloatArray, Frame, Trajectories, frozen, real_numbers
from wgsindy.errors import DataError
from wgsindy.model import circulation, display, model_file, tensor
from wgsindy.model.circulation import LogDensity
from wgsindy.model.formulas import (
    Alternative,
    Coefficients,
    Formulas,
    SymbolicGenerator,
    linear_fields,
    split_sympy,
    tensor_fields,
)
from wgsindy.model.notation import Units
from wgsindy.model.observation import Observation
from wgsindy.model.simulation import Scheme, simulate
from wgsindy.model.tensor import TensorField
from wgsindy.model.uncertainty import Bands, Uncertainty
from wgsindy.terms import Basis, Expression

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from wgsindy.data import Dataset
    from wgsindy.model.simulation import Fan
    from wgsindy.readouts import Readouts


@dataclass(frozen=True, eq=False, repr=False)
class Generator:
    """A diffusion generator: the result of a fit, or a known truth.

    Parameters
    ----------
    basis : the terms, in the frame in which they are evaluated
    drift_coefficients : ``(d, K)``; b = theta c, in physical units
    tensor_field : how the diffusion tensor is made of the terms
    info : what is said of its origin for people, such as recipe and library
    region : mean and spread of the data it was fitted to; None for a known truth
    uncertainty : error bars and inclusion probabilities, if the recipe gives them
    alternatives : formulas of single fields that explain the data about as well, best first
    observation : what is known of the measurement: noise, order, inputs, units

    Examples
    --------
    >>> import sympy
    >>> x, y = sympy.symbols("x y")
    >>> truth = Generator.from_sympy(("x", "y"), [-x - 2*y, 2*x - y], [[1, 0], [0, 1]])
    >>> truth.drift([[1.0, 1.0]]).tolist(), truth.curl([[1.0, 1.0]]).tolist()
    ([[-3.0, 1.0]], [2.0])
    >>> truth
    Generator of (x, y)
      b1 = -x - 2*y
      b2 = 2*x - y
      a11 = 1
      a12 = 0
      a22 = 1
    """

    basis: Basis
    drift_coefficients: FloatArray
    tensor_field: TensorField
    info: Mapping[str, Any] = field(default_factory=dict)
    region: Frame | None = None
    uncertainty: Uncertainty | None = None
    alternatives: tuple[Alternative, ...] = ()
    observation: Observation = field(default_factory=Observation)

    @classmethod
    def from_sympy(
        cls, names: Sequence[str], drift: Sequence[Any], diffusion: Sequence[Sequence[Any]]
    ) -> Generator:
        """Build a generator from SymPy expressions of the drift and of the full tensor."""
        d = len(names)
        entries = [diffusion[p][q] for p, q in tensor.pairs(d)]
        basis, coefficients = split_sympy([*drift, *entries], names)
        field = TensorField("entries", frozen(coefficients[d:]), 0.0, frozen(np.ones(d)))
        return cls(basis, frozen(coefficients[:d]), field)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.basis.names

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.basis.names)

    def _points(self, points: ArrayLike) -> FloatArray:
        array = real_numbers(points, "points, an array of shape (n, d),")
        if array.ndim != 2 or array.shape[1] != len(self.basis.names):
            raise DataError(
                f"points must have shape (n, {self.dimension}), one column for each of "
                f"{list(self.names)}; got {array.shape}."
            )
        return array

    def drift(self, points: ArrayLike) -> FloatArray:
        """Drift b ``(n, d)`` at points ``(n, d)``."""
        return self.basis.values(self._points(points)) @ self.drift_coefficients.T

    def diffusion(self, points: ArrayLike) -> FloatArray:
        """Diffusion tensor a ``(n, d, d)`` at points ``(n, d)``."""
        theta = self.basis.values(self._points(points))
        with np.errstate(over="ignore", invalid="ignore"):  # of points that are infinite
            return self.tensor_field(theta)

    def drift_jacobian(self, points: ArrayLike) -> FloatArray:
        """Derivatives J[p, q] = d b_p / d x_q ``(n, d, d)``."""
        x = self._points(points)
        if self.basis.is_closed:
            slopes = self.basis.slopes(self.drift_coefficients)  # (d, d, K)
            return np.ascontiguousarray(np.tensordot(self.basis.values(x), slopes, (1, 2)))
        return np.einsum("nkq,pk->npq", self.basis.gradients(x), self.drift_coefficients)

    def apply(self, function: str | Expression, points: ArrayLike) -> FloatArray:
        """L f = b . grad f + (1/2) a : Hess f at points; ``(n,)``. ``f`` is a formula.

        >>> import sympy
        >>> x = sympy.Symbol("x")
        >>> Generator.from_sympy(("x",), [-x], [[2]]).apply("x**2", [[3.0]]).tolist()
        [-16.0]
        """
        x = self._points(points)
        if isinstance(function, str):
            function = Expression.parse(function, self.names)
        if function.names != self.names:
            raise DataError(f"f is a formula in {function.names}, the states are {self.names}.")
        jet = function.jet(x)
        first = np.einsum("np,np->n", self.drift(x), jet.gradient)
        return first + 0.5 * np.einsum("npq,npq->n", self.diffusion(x), jet.hessian)

    def correlation(self, points: ArrayLike) -> FloatArray:
        """Instantaneous shock correlations ``(n, d, d)``."""
        return tensor.correlation(self.diffusion(points))

    def leverage(self, points: ArrayLike) -> FloatArray:
        """a12 / sqrt(a11 a22) ``(n,)``; two coordinates only."""
        self._needs_plane("leverage", "correlation")
        return self.correlation(points)[:, 0, 1]

    def fluctuation(self, points: ArrayLike) -> FloatArray:
        """Local variances (a11, ..., add) ``(n, d)``."""
        return tensor.fluctuation(self.diffusion(points))

    def curl(self, points: ArrayLike) -> FloatArray:
        """(d1 b2 - d2 b1) / 2 ``(n,)``; two coordinates only."""
        self._needs_plane("curl", "rotation")
        return self.rotation(points)[:, 1, 0]

    def rotation(self, points: ArrayLike) -> FloatArray:
        """Antisymmetric part of the drift Jacobian ``(n, d, d)``."""
        return circulation.rotation(self.drift_jacobian(points))

    def antisymmetric_drift(self, points: ArrayLike) -> FloatArray:
        """Field anti(J)(x) (x - origin) ``(n, d)``: the rotating drift, to first order."""
        x = self._points(points)
        return circulation.antisymmetric_drift(x - self.basis.origin, self.drift_jacobian(x))

    def diffusion_divergence(self, points: ArrayLike) -> FloatArray:
        """sum_q d a_pq / d x_q ``(n, d)``, by central differences."""
        moved = self.relative()
        return circulation.divergence(moved.diffusion, self._points(points) - self.basis.origin)

    def current_velocity(self, points: ArrayLike, density: LogDensity) -> FloatArray:
        """Velocity of the stationary current ``(n, d)``; zero for a reversible process.

        ``density`` is that of the states, see :func:`wgsindy.model.circulation.fit_density`.
        """
        x = self._points(points)
        return circulation.current_velocity(
            self.drift(x), self.diffusion(x), self.diffusion_divergence(x), density.slope(x)
        )

    def relative(self) -> Generator:
        """Return the process of ``x - origin``; another one only where data are far from zero."""
        seen = self.region
        region = None if seen is None else Frame(seen.centre - self.basis.origin, seen.scale)
        return replace(self, basis=self.basis.relative(), region=region)

    def _needs_plane(self, what: str, instead: str) -> None:
        if self.dimension != 2:
            raise DataError(
                f"{what} is defined for 2 coordinates, this generator has {self.dimension}; use "
                f"{instead}, which works in any dimension."
            )

    def bands(self, points: ArrayLike, level: float = 0.95) -> Bands:
        """Pointwise intervals of the fields at points ``(n, d)``.

        The drift's leave the choice of terms open (supports of similar evidence count); those of
        the tensor are given its terms, before negative eigenvalues are clipped.

        Raises
        ------
        DataError
            If the generator has no error bars (a known truth, or a recipe that gives none), or
            ``level`` is no probability.
        """
        if self.uncertainty is None:
            raise DataError("this generator has no error bars; fit with recipe='sharp'.")
        if not 0 < level < 1:
            raise DataError(f"the level of a band is a probability like 0.95, got {level!r}.")
        theta = self.basis.values(self._points(points))
        drift = theta @ self.drift_coefficients.T
        entries = theta @ self.tensor_field.coefficients.T
        of_drift, of_entries = self.uncertainty.half_widths(theta, level)
        return Bands(
            drift - of_drift,
            drift + of_drift,
            tensor.symmetric(entries - of_entries, self.dimension),
            tensor.symmetric(entries + of_entries, self.dimension),
        )

    @property
    def written_coefficients(self) -> FloatArray:
        """Coefficients ``(d + E, K)`` of the formulas that are written: drift, then tensor.

        Of a drift that averages over several choices of terms, it is the best choice.
        """
        drift = self.drift_coefficients if self.uncertainty is None else self.uncertainty.drift
        return np.concatenate([drift, self.tensor_field.coefficients])

    @cached_property
    def _formulas(self) -> Formulas:
        return Formulas(
            self.names,
            linear_fields(self.basis, self.written_coefficients[: self.dimension]),
            tensor_fields(self.basis, self.tensor_field),
            self.region,
            self.uncertainty,
            len(self.inputs),
        )

    @property
    def units(self) -> Units:
        """Units of fields and coefficients, as far as they are known."""
        known = self.observation
        states = tuple(known.units.get(name, "") for name in self.names)
        return Units(self.names, known.time_unit, states)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the last coordinates, if these are known inputs and have no equation."""
        return self.observation.inputs

    def __repr__(self) -> str:
        return self._formulas.summary()

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.to_latex()}$"

    def _repr_html_(self) -> str:
        return display.generator_html(self)

    @property
    def coefficients(self) -> Coefficients:
        """Every selected term of every field, in the physical states; a table in a notebook.

        ``to_pandas()`` and ``to_polars()`` give them as a data frame.

        Standard errors and 95 % intervals leave the choice of the other terms open; ``inclusion``
        says how sure the term itself is.
        """
        return self._formulas.coefficients()

    def equations(
        self, digits: int = 3, cutoff: float = 0.02, *, errors: bool = False
    ) -> list[str]:
        """Write the drift components and tensor entries as formulas in the physical states.

        With ``errors`` each coefficient carries its standard error, if the recipe gives any. Of a
        generator without error bars, terms that contribute less than ``cutoff`` of their field's
        scale on the range of the data are left out of the text; :attr:`coefficients` has them
        all. The scale of a field is its largest term, that of an off-diagonal entry
        sqrt(a_pp a_qq).
        """
        return self._formulas.equations(digits, cutoff, errors=errors)

    def written(self, cutoff: float = 0.02) -> Coefficients:
        """Those of :attr:`coefficients` that :meth:`equations` writes."""
        return self._formulas.written(cutoff)

    def to_sympy(self) -> SymbolicGenerator:
        """Drift and tensor as SymPy matrices in the physical states, every term kept."""
        return self._formulas.to_sympy()

    def to_latex(self, digits: int = 3, cutoff: float = 0.02) -> str:
        """Write the equations as a LaTeX ``aligned`` block."""
        return display.equations_latex(*self._formulas.shortened(digits, cutoff))

    def sde_latex(self, digits: int = 4, cutoff: float = 0.02) -> str:
        """Write dX = b dt + sigma dW with b as a vector and a = sigma sigma' as a matrix.

        A LaTeX ``aligned`` block that MathJax and KaTeX read, without dollar signs. Terms are left
        out as in :meth:`equations`.
        """
        return display.sde_latex(*self._formulas.shortened(digits, cutoff))

    def generator_latex(self, digits: int = 4, cutoff: float = 0.02) -> str:
        r"""Write L f = b . grad f + (1/2) a : Hess f as a LaTeX ``aligned`` block.

        The function is called phi where a coordinate is called f.

        >>> import sympy
        >>> x = sympy.Symbol("x")
        >>> print(Generator.from_sympy(("x",), [-x], [[0.5]]).generator_latex())
        \begin{aligned}
        \mathcal{L} f &= - x \partial_{x} f \\
        &\quad + 0.25 \partial_{x}^{2} f
        \end{aligned}
        """
        return display.generator_latex(*self._formulas.shortened(digits, cutoff))

    def to_code(self, language: str) -> str:
        """Write the equations as a program that stands alone.

        ``language``: ``"python"`` (NumPy), ``"julia"``, ``"stan"`` or ``"c"``. The program has
        drift, tensor and steps by Euler-Maruyama; formulas are those of :meth:`equations`, with
        every term and every digit.

        >>> import sympy
        >>> x = sympy.Symbol("x")
        >>> code = Generator.from_sympy(("x",), [-2*x], [[1]]).to_code("c")
        >>> [line.strip() for line in code.splitlines() if "b[0] =" in line]
        ['b[0] = (-2.0)*x;']
        """
        return display.program(
            self._formulas, language, clipped=self.tensor_field.form == "clipped"
        )

    def simulate(
        self,
        x0: ArrayLike,
        *,
        dt: float,
        steps: int,
        trajectories: int = 1,
        random_state: int | np.random.Generator | None = None,
        scheme: Scheme | None = None,
    ) -> Trajectories:
        """Simulate from ``x0``; see :func:`wgsindy.model.simulation.simulate`."""
        return simulate(
            self,
            x0,
            dt=dt,
            steps=steps,
            trajectories=trajectories,
            random_state=random_state,
            scheme=scheme,
        )

    def readouts(
        self,
        data: Dataset | None = None,
        box: Any = None,
        cells: int | Sequence[int] | None = None,
        **options: Any,
    ) -> Readouts:
        """What follows from the generator: density, currents, rates, passage times, forecasts.

        Parameters
        ----------
        data : where the process was seen, if the generator does not know it
        box : a pair (low, high) for each coordinate; by default what holds the stationary law
        cells : of the grid, a side; by default 1024, 128 and 24 in 1, 2 and 3 dimensions
        options : ``draws`` (50) and ``level`` (0.95) of the intervals, and ``random_state``

        Raises
        ------
        ReadoutError
            When something is asked for that does not exist, such as the density of a random walk.
        """
        # The one import against the order of rooms: nobody who fits waits for SciPy.
        from wgsindy.readouts import Readouts

        return Readouts(self, data, box, cells, **options)

    def forecast(
        self,
        x0: ArrayLike,
        horizon: float,
        *,
        steps: int = 200,
        paths: int = 1000,
        levels: Sequence[float] = (0.5, 0.9),
        doubts: bool = True,
        random_state: int | np.random.Generator | None = None,
    ) -> Fan:
        """Simulate where the process may be up to ``horizon``: a fan with bands.

        ``paths`` from ``x0 (d,)``, seen at ``steps`` times; bands hold the shares ``levels``. With
        ``doubts`` each path has equations of its own, drawn from the error bars, so the fan is as
        wide as noise and equations together make it; a generator without error bars has none.

        Raises
        ------
        SimulationError
            If an argument makes no sense.

        Examples
        --------
        >>> import sympy
        >>> x = sympy.Symbol("x")
        >>> fan = Generator.from_sympy(("x",), [-x], [[0.02]]).forecast([1.0], 2.0, random_state=0)
        >>> fan.median[[0, -1], 0].round(1).tolist(), fan.low.shape
        ([1.0, 0.1], (2, 201, 1))
        """
        from wgsindy.model.simulation import forecast

        return forecast(
            self,
            x0,
            horizon,
            steps=steps,
            paths=paths,
            levels=levels,
            doubts=doubts,
            random_state=random_state,
        )

    def plot(
        self, data: Any = None, *, coordinates: Sequence[str] | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw drift arrows and ellipses of the noise, over the density of ``data`` if given.

        Of more than two coordinates the plane of two, the others at their median; of one, the
        drift with its band. Without ``data`` two deviations around those of the fit.
        """
        from wgsindy.draw import plot

        return plot(self, data, coordinates=coordinates, ax=ax)

    def plot_field(
        self, field: str, data: Any = None, *, along: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw a field such as ``"b1"`` or ``"a12"`` along a coordinate, with its 95 % band."""
        from wgsindy.draw import plot_field

        return plot_field(self, field, data, along=along, ax=ax)

    def plot_coefficients(self, *, ax: Axes | None = None) -> Axes:
        """Draw every coefficient with its 95 % interval."""
        from wgsindy.draw import plot_coefficients

        return plot_coefficients(self, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a model file: plain data, no code."""
        return model_file.encode(self)

    @classmethod
    def from_dict(cls, content: Any) -> Generator:
        """Build a generator from the content of a model file.

        Raises
        ------
        ModelFileError
            If anything in it is missing, of the wrong kind or of the wrong shape.
        """
        return cls(*model_file.decode(content))

    def save(self, path: str | Path) -> None:
        """Write a model file (JSON), atomically; floats are kept bit for bit."""
        model_file.write(path, self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Generator:
        """Read a model file.

        Raises
        ------
        ModelFileError
            If the file is not one that :meth:`save` wrote.
        """
        return cls.from_dict(model_file.content_of(path))
