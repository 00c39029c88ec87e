"""Whether there are enough data for what is asked of them."""

from __future__ import annotations

from wgsindy.data.dataset import Dataset
from wgsindy.errors import NotEnoughDataError

FEWEST_INCREMENTS = 50


def check_terms(data: Dataset, terms: int) -> None:
    """Refuse to determine more terms than there are increments."""
    if data.n_increments < terms:
        raise NotEnoughDataError(
            f"{data.n_increments} increments cannot determine {terms} terms a field; "
            "give more data or a smaller library."
        )


def check_length(data: Dataset) -> None:
    """Refuse data that are too short to check any choice of terms."""
    if data.n_increments < FEWEST_INCREMENTS:
        raise NotEnoughDataError(
            f"{data.n_increments} increments are too few to check any choice of terms; give at "
            f"least {FEWEST_INCREMENTS}."
        )
