"""The result: drift and tensor as a generator, with formulas and error bars."""

from wgsindy.model.change_of_variables import Change
from wgsindy.model.display import (
    Equation,
    field_symbol,
    fragment,
    generator_parts,
    mathml_equations,
    term_formula,
)
from wgsindy.model.formulas import (
    Alternative,
    Coefficient,
    Tabular,
    linear_fields,
    tensor_fields,
)
from wgsindy.model.generator import Generator
from wgsindy.model.model_file import model_text
from wgsindy.model.notation import (
    Units,
    field_names,
    in_full,
    named_equations,
    named_fields,
    padded,
    percent,
    probability,
    rounded,
    typographic,
    with_unit,
)
from wgsindy.model.observation import Observation
from wgsindy.model.readout_bands import MOST_STATES, ReadOut, readouts
from wgsindy.model.simulation import (
    Diffusion,
    EulerMaruyama,
    ExactLinear,
    ExactLognormal,
    KineticSplitting,
    Scheme,
    simulate,
)
from wgsindy.model.tensor import TensorField, entries_of, symmetric
from wgsindy.model.uncertainty import (
    FEWEST_CLUSTERS,
    Uncertainty,
    clustered_covariance,
    normal_quantile,
)

__all__ = [
    "FEWEST_CLUSTERS",
    "MOST_STATES",
    "Alternative",
    "Change",
    "Coefficient",
    "Diffusion",
    "Equation",
    "EulerMaruyama",
    "ExactLinear",
    "ExactLognormal",
    "Generator",
    "KineticSplitting",
    "Observation",
    "ReadOut",
    "Scheme",
    "Tabular",
    "TensorField",
    "Uncertainty",
    "Units",
    "clustered_covariance",
    "entries_of",
    "field_names",
    "field_symbol",
    "fragment",
    "generator_parts",
    "in_full",
    "linear_fields",
    "mathml_equations",
    "model_text",
    "named_equations",
    "named_fields",
    "normal_quantile",
    "padded",
    "percent",
    "probability",
    "readouts",
    "rounded",
    "simulate",
    "symmetric",
    "tensor_fields",
    "term_formula",
    "typographic",
    "with_unit",
]
