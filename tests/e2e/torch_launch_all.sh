# slow
# The same with very many texts.
set -u
CASES=60000
export CASES
. "$(dirname "$0")/torch_launch.sh"
