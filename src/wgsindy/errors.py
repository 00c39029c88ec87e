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


class ReportError(WgsindyError):
    """A report or a picture could not be drawn; what was fitted is saved."""


class ModelFileError(WgsindyError):
    """A model file is not one that this package wrote."""


class UnknownSystemError(WgsindyError):
    """The zoo has no system of that name."""


class OutputError(WgsindyError):
    """Results cannot be written where they were asked for."""


class SimulationError(WgsindyError):
    """A simulation cannot be carried out, or left the range of finite numbers."""


class ReadoutError(WgsindyError):
    """A quantity that was asked of a generator does not exist, or cannot be told."""


class EngineError(WgsindyError):
    """Passes cannot run where they were asked to: no engine, no scheduler, no workers."""


class MissingPackageError(WgsindyError):
    """A package that this needs is not installed."""


class WgsindyWarning(UserWarning):
    """Base of every warning this package gives."""


class RepeatedSamplesWarning(WgsindyWarning):
    """Some samples repeat the one before them, more than rounding explains: a stalled sensor."""


class RoundedSamplesWarning(WgsindyWarning):
    """Samples have fewer digits than their steps need."""


class InterpolatedSamplesWarning(WgsindyWarning):
    """Some samples lie on straight lines between others: holes that somebody filled."""


class OutlierWarning(WgsindyWarning):
    """Some increments are far outside the range of all the others."""


class ReadingWarning(WgsindyWarning):
    """Base of the warnings of :func:`wgsindy.read`: something was corrected or guessed."""


class GapWarning(ReadingWarning):
    """Some steps are much longer than the others; trajectories are split there."""


class MissingValuesWarning(ReadingWarning):
    """Some rows lack a value; they are left out, and trajectories are split at long holes."""


class ShortPiecesWarning(ReadingWarning):
    """Some samples stand alone between gaps and missing rows; they are left out."""


class DuplicateRowsWarning(ReadingWarning):
    """Some rows, or whole trajectories, occur more than once; one copy is kept."""


class UnsortedTimesWarning(ReadingWarning):
    """Some rows are not in the order of time; they are sorted."""


class TimeRestartsWarning(ReadingWarning):
    """Time starts again within a trajectory; a new trajectory begins there."""


class ConstantColumnWarning(ReadingWarning):
    """A column never changes; it is not taken as a state."""


class MixedUnitsWarning(ReadingWarning):
    """Some samples differ from the others by a factor that looks like another unit."""


class GuessedColumnWarning(ReadingWarning):
    """What a column holds is read from its numbers, not from its name."""


class UnreadableFieldsWarning(ReadingWarning):
    """Some fields are not numbers, or some rows have the wrong length; they count as missing."""


class EncodingGuessWarning(ReadingWarning):
    """The file is not UTF-8; names of columns may be misread."""


class RenamedColumnsWarning(ReadingWarning):
    """Names of columns that cannot stand in a formula are changed."""
