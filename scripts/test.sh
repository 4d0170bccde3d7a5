#!/usr/bin/env bash
# Everything that must hold before a change is merged: linter, formatter, type checker, tests.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/environment.sh
prepare_environment "[dev,export]"

echo "== ruff"
"$python" -m ruff check .
"$python" -m ruff format --check .
echo "== mypy"
"$python" -m mypy
echo "== pytest"
"$python" -m pytest "$@"
