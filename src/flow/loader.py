"""Loads @LIBRARY@, which lies beside this file. Made by rocsmith.

Functions of the library are attributes of this module (and of `lib`);
declare their types as ctypes wants them: `f.argtypes = [ctypes.c_int]`.
"""
import ctypes as _ctypes
import os as _os

_path = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "@LIBRARY@")
try:
    lib = _ctypes.CDLL(_path)
except OSError as _error:
    raise ImportError(
        "cannot load %s: %s (are the ROCm libraries installed?)"
        % (_path, _error)
    ) from _error


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(lib, name)
