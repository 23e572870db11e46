"""Starts ROCm's programs, as commands of the Python environment; rocsmith packs this into rocm-sdk-core."""
import os
import pathlib
import sys


def main():
    """Becomes the program of ROCm that has the command's name: of the devel tree, where that is expanded."""
    here = pathlib.Path(__file__).resolve().parent.parent
    name = "bin/" + os.path.basename(sys.argv[0])
    folder = next((f for f in ("_rocm_sdk_devel", "_rocm_sdk_core") if (here / f / name).exists()), "_rocm_sdk_core")
    path = str(here / folder / name)
    os.execv(path, [path] + sys.argv[1:])
