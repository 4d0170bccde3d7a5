"""`python -m mt`: the same as `mt`."""

from mt.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
