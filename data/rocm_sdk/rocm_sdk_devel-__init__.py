"""The devel tree of ROCm, as an archive; rocm_sdk expands it."""
