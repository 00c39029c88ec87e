"""Candidate terms: formulas, monomials, libraries of both."""

from wgsindy.terms.angular import angular_library
from wgsindy.terms.basis import Basis, basis_of, collect_terms, split_formulas
from wgsindy.terms.derivatives import FUNCTIONS
from wgsindy.terms.expression import Expression, Notation
from wgsindy.terms.library import Library, library
from wgsindy.terms.monomials import Monomials, Taylor, monomial_name
from wgsindy.terms.origin import origin_notes, origin_of, round_number
from wgsindy.terms.parsing import Node, add, constant, multiply

__all__ = [
    "FUNCTIONS",
    "Basis",
    "Expression",
    "Library",
    "Monomials",
    "Node",
    "Notation",
    "Taylor",
    "add",
    "angular_library",
    "basis_of",
    "collect_terms",
    "constant",
    "library",
    "monomial_name",
    "multiply",
    "origin_notes",
    "origin_of",
    "round_number",
    "split_formulas",
]
