"""A client of Redis for tests: both protocols, every kind of reply, pipelines.

Replies: Simple (a str) for simple strings, bytes for bulk strings, int, list, None; in RESP3 also
bool, float, dict, set. A reply that is an error is raised as Refused, or returned inside an array.
"""
import socket


class Refused(Exception):
    """An error reply; its text begins with the error's code."""

    def __eq__(self, other):
        return isinstance(other, Refused) and str(self) == str(other)

    __hash__ = Exception.__hash__


class Simple(str):
    """A simple string, such as OK."""


def encode(arguments):
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        if not isinstance(argument, bytes):
            argument = str(argument).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(argument), argument))
    return b"".join(parts)


class Client:
    """A connection to a unix socket (a path) or to a TCP address (a pair)."""

    def __init__(self, address, resp=2, timeout=120):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise
        self.stream = self.socket.makefile("rb")
        if resp == 3:
            self("HELLO", 3)

    def close(self):
        self.stream.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __call__(self, *arguments):
        """Sends one command and returns its reply; raises Refused for an error."""
        reply, = self.pipeline([arguments])
        if isinstance(reply, Refused):
            raise reply
        return reply

    def pipeline(self, commands):
        """Sends all commands, then reads all replies; errors are among them."""
        self.socket.sendall(b"".join(map(encode, commands)))
        return [self.read() for _ in commands]

    def send(self, *arguments):
        """Sends a command whose reply is read later."""
        self.socket.sendall(encode(arguments))

    def read(self):
        line = self.stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        return self._READERS[kind](self, rest)

    def _bulk(self, rest):
        size = int(rest)
        if size < 0:
            return None
        data = self.stream.read(size + 2)
        if len(data) != size + 2:
            raise ConnectionError("the server closed the connection")
        return data[:-2]

    def _array(self, rest):
        return None if int(rest) < 0 else [self.read() for _ in range(int(rest))]

    def _map(self, rest):
        return {_hashable(self.read()): self.read() for _ in range(int(rest))}

    _READERS = {
        b"+": lambda self, rest: Simple(rest.decode()),
        b"-": lambda self, rest: Refused(rest.decode()),
        b":": lambda self, rest: int(rest),
        b"$": _bulk,
        b"*": _array,
        b"_": lambda self, rest: None,
        b"#": lambda self, rest: rest == b"t",
        b",": lambda self, rest: float(rest),
        b"(": lambda self, rest: int(rest),
        b"=": lambda self, rest: self._bulk(rest)[4:],
        b"%": _map,
        b"~": lambda self, rest: {_hashable(self.read()) for _ in range(int(rest))},
        b">": _array,
    }


def _hashable(reply):
    return tuple(reply) if isinstance(reply, list) else reply
