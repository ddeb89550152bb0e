from __future__ import annotations

import asyncio

from bot.queue.cancel import end


async def test_a_task_that_loses_a_cancellation_ends_all_the_same() -> None:
    """As a command to Redis loses it: its answer comes in the moment in which nobody wants it any more."""
    answers: list[asyncio.Future[None]] = []
    asked = asyncio.Event()

    async def keep_asking() -> None:
        while True:
            answers.append(asyncio.get_running_loop().create_future())
            asked.set()
            await asyncio.wait_for(answers[-1], 60)

    task = asyncio.create_task(keep_asking())
    await asked.wait()
    answers[-1].set_result(None)
    async with asyncio.timeout(20):
        await end(task)
    assert task.cancelled()


async def test_what_has_ended_already_is_left_alone() -> None:
    task = asyncio.create_task(asyncio.sleep(0, "done"))
    assert await task == "done"
    await end(task)
    assert task.result() == "done"
