"""Monte Carlo estimates on the GPU.

    >>> import montecarlo
    >>> montecarlo.pi(samples=10_000_000, seed=1)     # doctest: +SKIP
    3.1415...

Without a usable GPU the functions raise RuntimeError with the runtime's own message.
"""
from collections import namedtuple

from . import _gpu

__all__ = ["Moments", "devices", "noise", "pi"]
__version__ = "1.0"

Moments = namedtuple("Moments", "mean variance")


def pi(samples=1_000_000, seed=0):
    """Estimate pi from random points."""
    return _gpu.pi(seed, samples)


def noise(samples=1_000_000, seed=0):
    """Mean and variance of normal noise: near 0 and 1."""
    return Moments(*_gpu.noise(seed, samples))


def devices():
    """Number of GPUs."""
    return _gpu.devices()
