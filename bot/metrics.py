"""The process's own counters, for /metrics."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)


class Metrics:
    """The counters of one process; two instances in one test share nothing."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        self.slack_calls = Counter(
            "aksbot_slack_calls", "Calls of Slack, by how they ended.", ["method", "outcome"], registry=self.registry
        )
        self.redis_reachable = Gauge(
            "aksbot_redis_reachable", "1 while the state (REDIS_URL) answers, else 0.", registry=self.registry
        )
        self.redis_writable = Gauge(
            "aksbot_redis_writable", "1 while the state (REDIS_URL) takes writes, else 0.", registry=self.registry
        )
        self.heard = Counter(
            "aksbot_heard", "Commands, mentions and clicks that came in.", ["kind"], registry=self.registry
        )
        self.unread = Counter(
            "aksbot_unread",
            "What was not read after a time without a connection to Slack, by why.",
            ["why"],
            registry=self.registry,
        )
        self.answers = Counter("aksbot_answers", "Answers that were given.", ["outcome"], registry=self.registry)
        self.answered_after = Histogram(
            "aksbot_answered_after_seconds",
            "From the question to its answer.",
            buckets=(0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120),
            registry=self.registry,
        )

    def text(self) -> bytes:
        return bytes(generate_latest(self.registry))
