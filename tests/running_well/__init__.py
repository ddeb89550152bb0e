"""Applications that run well: as charts install them, and recorded ones whose fault was repaired."""
