"""From an offer to a verdict: approvals, the chain of jobs that carries a plan out, and the look afterwards."""
