"""Healthy applications: installed from charts, and recorded ones whose fault was fixed."""
