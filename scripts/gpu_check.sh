#!/usr/bin/env bash
# Minutes on one CUDA GPU, and one table: speed, share of the card's arithmetic, memory, whether a
# checkpoint moves to a CPU, whether a resumed run is the same to the bit, what becomes of a batch
# that is too large.
#
#   scripts/gpu_check.sh                      # a GPU; generated pairs
#   scripts/gpu_check.sh --rows pairs.jsonl   # pairs of your own
#   scripts/gpu_check.sh --device cpu --small # the same with a tiny model, in seconds, without a GPU
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${MT_PYTHON:-$root/.venv/bin/python}
[ -x "$python" ] || python=python3
# Sums on a GPU come out the same each time only with a workspace of fixed size.
export CUBLAS_WORKSPACE_CONFIG=:4096:8 PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
exec "$python" "$root/scripts/gpu_check.py" "$@"
