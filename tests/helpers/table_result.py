"""What a case of the master table gives, with figures of our own."""

from __future__ import annotations

import math
from typing import Any


def result(**changes: Any) -> dict[str, Any]:
    base: dict[str, Any] = {
        "drift": 0.1,
        "tensor": 0.02,
        "cosine": math.nan,
        "psd": 1.0,
        "psd_far": 1.0,
        "action": 0.15,
        "score": 0.9,
        "floor_drift": 0.05,
        "floor_tensor": 0.01,
        "held_out_drift": 0.1,
        "held_out_tensor": 0.02,
        "support": [[1.0, 0.0]] * 5,
        "true_support": [[1.0, 0.0]] * 5,
        "seconds_fit": 0.1,
    }
    return base | changes
