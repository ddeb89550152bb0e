"""Applications as their charts install them, and recorded ones whose fault was repaired, with everything running well."""
