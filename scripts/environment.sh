# Sourced by the other scripts: makes .venv with the package, or brings it up to date.
#
#   prepare_environment [EXTRAS]      as in: prepare_environment "[dev]"
#
# Afterwards $python is the environment's own. MT_PYTHON names another Python to make it with.

find_python() {
  local candidate
  for candidate in "${MT_PYTHON:-}" python3.13 python3.12 python3.11 python3 python; do
    [ -n "$candidate" ] || continue
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return
    fi
  done
  echo "No Python 3.11 or newer with the venv module was found; install one, or name it in MT_PYTHON." >&2
  return 1
}

prepare_environment() {
  local extras="${1:-}" found wanted
  if [ ! -x .venv/bin/python ]; then
    found=$(find_python)
    echo "== Making a virtual environment in .venv with $("$found" --version)"
    "$found" -m venv .venv
  fi
  python=.venv/bin/python
  wanted=$(cat pyproject.toml constraints.txt | cksum)
  if ! grep -qsF "$wanted $extras" .venv/installed; then
    echo "== Installing mt$extras and what it needs (torch is large: this can take minutes)"
    "$python" -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt -e ".$extras"
    echo "$wanted $extras" >>.venv/installed
  fi
}
