#!/usr/bin/env bash
# Everything that must hold before a change is merged: linter, formatter, type checker, tests.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
prepare_environment "[dev,export,serve]"

echo "== ruff"
"$python" -m ruff check .
"$python" -m ruff format --check .
echo "== mypy"
"$python" -m mypy
echo "== pytest"
# Two at a time, one thread each: threads that wait for each other on few cores lose most of it.
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
"$python" -m pytest -n 2 "$@"
