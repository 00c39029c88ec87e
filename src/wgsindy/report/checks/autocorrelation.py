"""Autocorrelation within trajectories, pooled over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wgsindy.data.arrays import FloatArray


def autocorrelation(series: Sequence[FloatArray], lags: int) -> FloatArray:
    """Correlations ``(lags + 1, d)`` of values a number of steps apart; NaN marks missing ones.

    The mean is that of all series together: one that stays away from it is slow, not wide. NaN
    where no two values are that far apart, or nothing varies.

    >>> import numpy as np
    >>> autocorrelation([np.array([[1.0], [-1.0], [1.0], [-1.0]])], 2).ravel().round(6).tolist()
    [1.0, -1.0, 1.0]
    """
    everything = np.concatenate(series)
    finite = np.isfinite(everything)
    mean = np.where(finite, everything, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    products = np.zeros((lags + 1, len(mean)))
    pairs = np.zeros_like(products)
    # Series of one length are transformed at once, which takes a fraction of the time.
    for length in {len(one) for one in series}:
        alike = np.stack([one for one in series if len(one) == length], axis=1)
        there, most = np.isfinite(alike), min(lags + 1, length)
        products[:most] += _lagged_products(np.where(there, alike - mean, 0.0), most)
        if there.all():
            pairs[:most] += alike.shape[1] * (length - np.arange(most))[:, None]
        else:
            pairs[:most] += np.round(_lagged_products(there.astype(np.float64), most))
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = products / pairs
        return np.asarray(covariance / covariance[0])


def _lagged_products(values: FloatArray, lags: int) -> FloatArray:
    """Sums of ``v[n] v[n + lag]`` over the series of ``values (n, R, d)``; ``(lags, d)``."""
    size = 1 << (2 * len(values) - 1).bit_length()
    spectrum = np.fft.rfft(values, size, axis=0)
    return np.asarray(np.fft.irfft((np.abs(spectrum) ** 2).sum(axis=1), size, axis=0)[:lags])
