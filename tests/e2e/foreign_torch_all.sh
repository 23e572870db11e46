#!/usr/bin/env bash
# slow: a torch of half a gigabyte is fetched and unpacked, and its headers are compiled
set -eu
ROCSMITH_WHOLE_TORCH=1 exec bash "$(dirname "$0")/foreign_torch.sh"
