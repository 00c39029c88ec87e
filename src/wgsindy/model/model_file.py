"""Model files: a generator as plain JSON. Data, never code; floats bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wgsindy.data import FloatArray, Frame, frozen
from wgsindy.errors import ModelFileError
from wgsindy.files import opened, write_atomically
from wgsindy.model.formulas import Alternative
from wgsindy.model.observation import Observation
from wgsindy.model.tensor import TensorField, pairs
from wgsindy.model.uncertainty import Uncertainty
from wgsindy.terms import Basis, Expression, basis_of

if TYPE_CHECKING:
    from wgsindy.model.generator import Generator

MODEL_FORMAT = "wgsindy-generator"
MODEL_VERSION = 2
NO_ORIGIN = 1  # version of files without an origin, which the first release reads too
# What is known of the origin has this order at its end.
LAST = ("transition", "observation_noise", "order", "inputs", "changes", "time_unit", "units")


class Content(NamedTuple):
    """What a generator is made of, in the order of its constructor."""

    basis: Basis
    drift: FloatArray
    field: TensorField
    info: Mapping[str, Any]
    region: Frame | None
    uncertainty: Uncertainty | None = None
    alternatives: tuple[Alternative, ...] = ()
    observation: Observation = Observation()


def encode(generator: Generator) -> dict[str, Any]:
    """Return the content of a model file."""
    basis, tensor, region = generator.basis, generator.tensor_field, generator.region
    bars = generator.uncertainty
    return {
        "format": MODEL_FORMAT,
        "version": MODEL_VERSION if basis.origin.any() else NO_ORIGIN,
        "names": list(basis.names),
        "terms": list(basis.terms),
        "frame": _frame_dict(basis.frame),
        **({"origin": basis.origin.tolist()} if basis.origin.any() else {}),
        "region": None if region is None else _frame_dict(region),
        "drift": generator.drift_coefficients.tolist(),
        "tensor": {
            "form": tensor.form,
            "coefficients": tensor.coefficients.tolist(),
            "shrinkage": tensor.shrinkage,
            "units": tensor.units.tolist(),
            "order": None if tensor.order is None else list(tensor.order),
        },
        "info": _origin_dict(generator),
        "uncertainty": None if bars is None else _uncertainty_dict(bars),
        **({"alternatives": _alternative_dicts(rest)} if (rest := generator.alternatives) else {}),
    }


def _origin_dict(generator: Generator) -> dict[str, Any]:
    known = {**generator.info, **generator.observation.facts()}
    place = {key: k for k, key in enumerate(LAST)}
    return dict(sorted(known.items(), key=lambda item: place.get(item[0], -1)))


def _uncertainty_dict(uncertainty: Uncertainty) -> dict[str, Any]:
    return {
        item.name: None if value is None else value.tolist()
        for item in fields(uncertainty)
        for value in [getattr(uncertainty, item.name)]
    }


def decode(content: Any) -> Content:
    """Check the content of a model file and take it apart.

    Raises
    ------
    ModelFileError
        If anything in it is missing, of the wrong kind or of the wrong shape.
    """
    if not isinstance(content, dict) or content.get("format") != MODEL_FORMAT:
        raise ModelFileError(f"this is not a {MODEL_FORMAT} file: its format field differs.")
    if content.get("version") not in (NO_ORIGIN, MODEL_VERSION):
        raise ModelFileError(
            f"this model file has version {content.get('version')!r}; this release reads "
            f"versions up to {MODEL_VERSION}."
        )
    try:
        return _decode(content)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"this model file is damaged: {error}.") from None


def _decode(content: dict[str, Any]) -> Content:
    names = tuple(content["names"])
    terms = [Expression.parse(text, names) for text in content["terms"]]
    basis = basis_of(terms, names)
    if [term.text for term in basis.expressions] != [term.text for term in terms]:
        raise ModelFileError("its terms are not in the order in which they were written")
    d, k = len(names), len(basis)
    info = dict(content["info"])
    observation = Observation.of_facts(info, d)
    known = observation.facts()
    origin = np.zeros(d) if content["version"] == NO_ORIGIN else _array(content["origin"], (d,))
    return Content(
        basis.about(origin).in_frame(_frame_of(content["frame"], d)),
        _array(content["drift"], (d, k)),
        _field_of(content["tensor"], d, k),
        {key: value for key, value in info.items() if key not in known},
        None if content["region"] is None else _frame_of(content["region"], d),
        _uncertainty_of(content.get("uncertainty"), d, k),
        _alternatives_of(content.get("alternatives", ())),
        observation,
    )


def _uncertainty_of(content: Any, d: int, k: int) -> Uncertainty | None:
    if content is None:  # a truth, a recipe without error bars, or a file of the first release
        return None
    e = len(pairs(d))
    shapes = {
        "drift": (d, k),
        "drift_covariance": (d, k, d, k),
        "entry_covariance": (e, k, k),
        "drift_spread": (d, k, k),
        "inclusion": (d + e, k),
    }
    arrays = {name: _array(content[name], shape) for name, shape in shapes.items()}
    optional = {
        "drift_clustered": shapes["drift_covariance"],
        "entry_clustered": shapes["entry_covariance"],
        "form_spread": shapes["drift_spread"],
    }
    content = {"form_spread": None, **content}  # what earlier files do not have
    for name, shape in optional.items():
        if content[name] is not None:
            arrays[name] = _array(content[name], shape)
    return Uncertainty(**arrays)


def _alternative_dicts(alternatives: tuple[Alternative, ...]) -> list[dict[str, Any]]:
    return [{**one._asdict(), "terms": list(one.terms)} for one in alternatives]


def _alternatives_of(content: Any) -> tuple[Alternative, ...]:
    return tuple(
        Alternative(
            str(one["target"]),
            tuple(str(term) for term in one["terms"]),
            float(one["log_evidence"]),
            str(one["library"]),
        )
        for one in content
    )


def _field_of(content: Any, dimension: int, terms: int) -> TensorField:
    if content["form"] not in ("entries", "clipped", "factor"):
        raise ModelFileError(f"its tensor form is {content['form']!r}")
    if not 0 <= float(content["shrinkage"]) <= 1:
        raise ModelFileError(f"its shrinkage is {content['shrinkage']}, not between 0 and 1")
    order = content["order"]
    if order is not None and sorted(order) != list(range(dimension)):
        raise ModelFileError(f"its order of coordinates is {order}")
    return TensorField(
        content["form"],
        _array(content["coefficients"], (len(pairs(dimension)), terms)),
        float(content["shrinkage"]),
        _positive(content["units"], dimension),
        None if order is None else tuple(order),
    )


def write(path: str | Path, content: dict[str, Any]) -> None:
    """Write a model file, atomically."""
    write_atomically(path, model_text(content))


def model_text(content: dict[str, Any]) -> str:
    """Return what stands in a model file."""
    return json.dumps(content, allow_nan=False, indent=1) + "\n"


def content_of(path: str | Path) -> Any:
    """Read the content of a model file.

    Raises
    ------
    ModelFileError
        If there is no such file or it is not JSON.
    """
    try:
        with open(path, encoding="utf-8", opener=opened) as file:
            return json.load(file, parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise ModelFileError(f"there is no model file {path}.") from None
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} is not a JSON file: {error}.") from None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it contains {name}, which is not a number of JSON")


def _frame_dict(frame: Frame) -> dict[str, list[float]]:
    return {"centre": frame.centre.tolist(), "scale": frame.scale.tolist()}


def _frame_of(content: Any, dimension: int) -> Frame:
    return Frame(_array(content["centre"], (dimension,)), _positive(content["scale"], dimension))


def _positive(values: Any, dimension: int) -> FloatArray:
    array = _array(values, (dimension,))
    if not (array > 0).all():
        raise ModelFileError(f"{array.tolist()} should be positive")
    return array


def _array(values: Any, shape: tuple[int, ...]) -> FloatArray:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ModelFileError(f"an array of shape {array.shape} should be finite and {shape}")
    return frozen(array)
