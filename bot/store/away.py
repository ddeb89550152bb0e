"""What a person is told when the state cannot be reached."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import ConnectionError as CannotConnect
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError, ResponseError
from redis.exceptions import TimeoutError as TooLate

from handlers.problem import Problem


class StoreAway(Problem):
    """The state cannot be reached or does not take writes. What was asked may or may not have happened."""

    def __init__(self, why: str) -> None:
        super().__init__(
            "cannot reach the bot's memory",
            why,
            "wait a moment and try again; if it stays so, look at the Redis server (REDIS_URL) and at aksbot's log",
        )


_REFUSALS = ("CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "TRYAGAIN", "UNBLOCKED")
"""Answers of a server that is there and cannot do it now."""


@contextmanager
def reachable() -> Iterator[None]:
    """Turn whatever Redis says into words. A wrong command is our fault, and stays what it is."""
    try:
        yield
    except (CannotConnect, TooLate, OutOfMemoryError, ReadOnlyError, OSError) as lost:
        raise StoreAway(str(lost) or type(lost).__name__) from lost
    except ResponseError as refused:
        if not str(refused).startswith(_REFUSALS):
            raise
        raise StoreAway(str(refused)) from refused
    except RedisError as error:
        raise StoreAway(str(error) or type(error).__name__) from error
