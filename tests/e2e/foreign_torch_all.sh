#!/usr/bin/env bash
# slow: three extensions of PyTorch
export ROCSMITH_SLOW=1
exec bash "$(dirname "$0")/foreign_torch.sh"
