"""Monomials: values, products, and maps between frames."""

from __future__ import annotations

from itertools import product

import numpy as np

from wgsindy.terms import Monomials

# Powers of two and short binary fractions: every entry of the change of variables up to degree
# 4 is a floating-point number, so that exact means exact.
CENTRE = np.array([0.75, -1.25, 3.0])
SCALE = np.array([0.5, 4.0, 2.0])


def test_a_stack_of_frames_gives_a_stack_of_maps() -> None:
    monomials = Monomials.up_to(3, dimension=2)
    centres, scales = np.stack([CENTRE[:2], CENTRE[1:]]), np.stack([SCALE[:2], SCALE[1:]])
    stacked = monomials.affine_map(centres, scales)
    for matrix, centre, scale in zip(stacked, centres, scales, strict=True):
        np.testing.assert_array_equal(matrix, monomials.affine_map(centre, scale))


def test_monomials_with_gaps_are_evaluated_from_scratch() -> None:
    # Among them one that is a multiple of a later one.
    monomials = Monomials(np.array([[4, 0], [3, 0], [0, 0], [2, 5], [3, 1]]))
    x, y = np.array([-1.5, 0.0, 2.0]), np.array([0.5, -3.0, 1.25])
    wanted = np.stack([x**4, x**3, np.ones(3), x**2 * y**5, x**3 * y])
    np.testing.assert_allclose(monomials.values(np.column_stack([x, y])), wanted, rtol=1e-15)


def test_the_product_index_adds_powers() -> None:
    narrow, wide = Monomials.up_to(2, dimension=3), Monomials.up_to(4, dimension=3)
    index = narrow.product_index(wide)
    for i, j in product(range(len(narrow)), repeat=2):
        assert wide.powers[index[i, j]].tolist() == (narrow.powers[i] + narrow.powers[j]).tolist()
