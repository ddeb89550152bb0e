"""What a person is told when the state cannot be reached, or takes no writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.exceptions import ConnectionError as CannotConnect
from redis.exceptions import TimeoutError as TooLate

from handlers.problem import Problem


class StoreAway(Problem):
    """The state cannot be reached or does not take writes. What was asked may or may not have happened."""

    def __init__(self, why: str, what: str = "cannot reach the bot's memory", do: str = "") -> None:
        again = "wait a moment and try again; if it stays so, look at the Redis server (REDIS_URL) and at aksbot's log"
        super().__init__(what, why, do or again)


class TakesNoWrites(StoreAway):
    """The state is there, and what is asked now cannot be kept. Nothing was done."""

    def __init__(self, why: str) -> None:
        do = "make room on its disk, or raise maxmemory of REDIS_URL, and ask again; nothing was done"
        super().__init__(why, "the bot's memory takes no writes", do)


NO_CONNECTION = "its server takes no connections"
NO_ANSWER = "its server does not answer in time"
CLOSED = "its server has closed the connection"
QUEUE_REFUSES = "its server does not take the job"
REJECTED = "its server rejects the user or the password"

_NO_WRITES = {
    "OOM": "its server is full (maxmemory is reached)",
    "MISCONF": "its server cannot save to its disk",
    "NOREPLICAS": "its server has too few replicas to take writes",
    "READONLY": "its server is a read-only replica",
}
_REFUSALS = {
    "CLUSTERDOWN": "its cluster is down",
    "LOADING": "its server has just started and still reads its data",
    "MASTERDOWN": "its server has lost its primary",
    "TRYAGAIN": "its cluster is moving data",
    "UNBLOCKED": "its server became a replica meanwhile",
}
"""Answers of a server that is there and cannot do it now, by their first word."""
_IN_A_PIPELINE = "caused error: "


@contextmanager
def reachable() -> Iterator[None]:
    """Turn whatever Redis says into words. A wrong command is our fault, and stays what it is."""
    try:
        yield
    except (RedisError, OSError) as error:
        away = store_away(error)
        if away is None:
            raise
        raise away from error


def store_away(error: BaseException) -> StoreAway | None:
    """What an error of the client means for whoever waits, without its addresses; None for a wrong command."""
    if isinstance(error, StoreAway):
        return error
    word = _first_word(error)
    if word in _NO_WRITES:
        return TakesNoWrites(_NO_WRITES[word])
    if word in _REFUSALS:
        return StoreAway(_REFUSALS[word])
    return None if isinstance(error, ResponseError) else StoreAway(why_lost(error))


def why_lost(error: BaseException) -> str:
    """Why there is no connection, in words."""
    text = str(error)
    if isinstance(error, TooLate | TimeoutError):
        return NO_ANSWER
    if isinstance(error, AuthenticationError):
        return REJECTED
    if isinstance(error, CannotConnect) and any(word in text for word in ("closed", "reset", "while reading")):
        return CLOSED
    return NO_CONNECTION


def _first_word(error: BaseException) -> str:
    """The server's word for what is wrong. The client takes the words that it knows out of the text."""
    code = getattr(error, "status_code", None)
    return str(code) if code else str(error).rpartition(_IN_A_PIPELINE)[2].strip("('\"").partition(" ")[0]
