"""Becomes the program in argv, which then ends when its parent does, and whose files only this user can read.

Run by path: it imports nothing of ours.

The kernel sends the signal to the child of a parent that died, however it died; only Linux can. Elsewhere a server that
was left behind is stopped by the next start.
"""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, program: list[str]) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        return  # it died before the kernel knew whom to tell
    os.umask(0o077)
    os.execv(program[0], program)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
