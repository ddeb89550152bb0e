"""Recorded faults of workloads, served by the sandbox's API server with a healthy AKS cluster around them.

The recordings are no part of this repository: these tests skip where they are absent (`AKSBOT_TEST_OPSBENCH`).
"""
