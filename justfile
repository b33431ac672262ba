# The commands of a working day. Each also runs without `just`: it is one line.

# make the environment
setup:
    python3 -m venv .venv && .venv/bin/pip install -c constraints.txt -e ".[dev]"

# the fast suite, or a part of it: just test tests/assembly
test *ARGUMENTS:
    .venv/bin/pytest {{ARGUMENTS}}

# the same with PostgreSQL, servers and killed processes beside it
system *ARGUMENTS="tests":
    .venv/bin/pytest -m 'system and not slow and not bench' {{ARGUMENTS}}

# style, types, import contracts
lint:
    .venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/mypy && .venv/bin/lint-imports

# the workbench at http://127.0.0.1:8501
serve *ARGUMENTS:
    .venv/bin/ctxasm serve {{ARGUMENTS}}

# tables of measurements: just bench tests/bench/test_assembly.py
bench *ARGUMENTS="tests/bench":
    .venv/bin/pytest -m bench -s {{ARGUMENTS}}

# rewrite the tables of the documents that are made from the code
docs:
    .venv/bin/python -m tests.test_docs
