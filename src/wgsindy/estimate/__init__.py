"""Two estimators: the weak form of the paper, and the likelihood of every increment."""

from wgsindy.estimate.cost import work_ahead
from wgsindy.estimate.fit import (
    AUTO,
    Candidates,
    fit_dataset,
    fit_likelihood,
    pilot_orders,
)
from wgsindy.estimate.libraries import PREFERRED, RivalLibrary, rival_libraries
from wgsindy.estimate.likelihood.process import Predictions, Predictor
from wgsindy.estimate.likelihood.transition import Dynamics
from wgsindy.estimate.orders import Order, OrderEvidence, can_be_positions, log_likelihood
from wgsindy.estimate.result import Fit
from wgsindy.estimate.states import States, states_of, with_states

__all__ = [
    "AUTO",
    "PREFERRED",
    "Candidates",
    "Dynamics",
    "Fit",
    "Order",
    "OrderEvidence",
    "Predictions",
    "Predictor",
    "RivalLibrary",
    "States",
    "can_be_positions",
    "fit_dataset",
    "fit_likelihood",
    "log_likelihood",
    "pilot_orders",
    "rival_libraries",
    "states_of",
    "with_states",
    "work_ahead",
]
