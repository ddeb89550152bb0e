"""Benchmarks: `make bench` prints the results and writes `build/bench.json`."""
