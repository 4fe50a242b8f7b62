"""How fast it is, with a raw asyncpg floor beside every figure. Run `python -m benchmarks`; see docs/benchmarks.md."""
