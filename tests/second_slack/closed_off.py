"""Runs a server in a network of its own, with nothing in it but 127.0.0.1, and hands it what comes to a socket of ours.

For a server that listens on every address of the machine and cannot be told otherwise: nobody else reaches it, and it
reaches nobody. Started by `unshare`, with the number of the socket, the server's port and the command.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import subprocess
import sys

_READ_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
"""SIOCGIFFLAGS, SIOCSIFFLAGS and IFF_UP of Linux."""
_CHUNK = 1 << 16


def _loopback_up() -> None:
    """A new network has its loopback interface, which is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        asked = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack_from("16sh", fcntl.ioctl(any_socket, _READ_FLAGS, asked))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(_CHUNK):
            sink.write(data)
            await sink.drain()
    except OSError:
        pass  # one side is gone, and the other is told below
    finally:
        sink.close()


async def _hand_over(listening: socket.socket, port: int) -> None:
    """The socket was opened outside, and stays there; connections from here lead to the server inside."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()  # it does not listen yet
            return
        await asyncio.gather(_pump(reader, inner_writer), _pump(inner_reader, writer))

    async with await asyncio.start_server(connected, sock=listening) as server:
        await server.serve_forever()


def main(number: str, port: str, *command: str) -> None:
    _loopback_up()
    with socket.socket(fileno=int(number)) as listening, subprocess.Popen(command):
        asyncio.run(_hand_over(listening, int(port)))


if __name__ == "__main__":
    main(*sys.argv[1:])
