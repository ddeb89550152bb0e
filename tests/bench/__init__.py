"""Measurements, all of one run: `make bench` prints them and writes `build/bench.json`."""
