"""The libraries of ROCm are in _rocm_sdk_libraries."""
