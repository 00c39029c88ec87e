"""Recipe "paper": kernel-weighted rows, in the order of the paper."""

from wgsindy.estimate.weak_form.fit_weak import (
    TENSOR_FLOOR,
    recover_by_weak_form,
    row_weights,
    tensor_targets,
)
from wgsindy.estimate.weak_form.smoother import GramPass, Smoother, build_smoother, grid_of_centres
from wgsindy.estimate.weak_form.sparse_solvers import Rows, solve
from wgsindy.estimate.weak_form.weak_rows import (
    ProjectionPass,
    WeakForm,
    lag_one_noise,
    weak_form,
)

__all__ = [
    "TENSOR_FLOOR",
    "GramPass",
    "ProjectionPass",
    "Rows",
    "Smoother",
    "WeakForm",
    "build_smoother",
    "grid_of_centres",
    "lag_one_noise",
    "recover_by_weak_form",
    "row_weights",
    "solve",
    "tensor_targets",
    "weak_form",
]
