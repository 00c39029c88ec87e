"""Exceptions and warnings: each message is a sentence with the offending value and a way out."""

from __future__ import annotations


class WgsindyError(ValueError):
    """Base of every error this package raises on purpose."""


class DataError(WgsindyError):
    """The measured data cannot be used as they are."""


class NotEnoughDataError(DataError):
    """The data hold too few samples for what was asked of them."""


class LibraryError(WgsindyError):
    """A candidate term or a whole library is unknown, malformed or undefined on the data."""


class RecipeError(WgsindyError):
    """A recipe is unknown or one of its choices is not allowed."""


class ModelFileError(WgsindyError):
    """A model file is not one that this package wrote."""


class UnknownSystemError(WgsindyError):
    """The zoo has no system of that name."""


class SimulationError(WgsindyError):
    """A simulation cannot be carried out, or left the range of finite numbers."""


class CampaignError(WgsindyError):
    """A benchmark campaign was asked for something it cannot run."""


class WgsindyWarning(UserWarning):
    """Base of every warning this package gives."""


class RepeatedSamplesWarning(WgsindyWarning):
    """Some samples repeat the one before them exactly: a stalled sensor or padding."""


class OutlierWarning(WgsindyWarning):
    """Some increments are far outside the range of all the others."""
