"""Benchmarks of the repository: `python -m bench.NAME [--quick]`. The last line of stdout is one JSON document."""
