"""Candidate terms: formulas, monomials, libraries of both."""

from wgsindy.terms.basis import Basis, basis_of, collect_terms, split_formulas
from wgsindy.terms.candidates import (
    Library,
    angular_library,
    library,
    origin_notes,
    origin_of,
    round_number,
)
from wgsindy.terms.derivatives import FUNCTIONS
from wgsindy.terms.expression import Expression, Notation
from wgsindy.terms.monomials import Monomials, Taylor, monomial_name
from wgsindy.terms.parsing import Node, constant, product_of, sum_of

__all__ = [
    "FUNCTIONS",
    "Basis",
    "Expression",
    "Library",
    "Monomials",
    "Node",
    "Notation",
    "Taylor",
    "angular_library",
    "basis_of",
    "collect_terms",
    "constant",
    "library",
    "monomial_name",
    "origin_notes",
    "origin_of",
    "product_of",
    "round_number",
    "split_formulas",
    "sum_of",
]
