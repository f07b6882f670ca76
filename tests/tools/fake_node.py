"""A node that answers with prepared bytes: for replies that no real server sends on demand.

It knows no command. A function of the test gets the words of each command and returns the bytes of
the reply; None closes the connection, and SILENCE answers nothing.
"""
import socket
import threading

SILENCE = object()


def bulk(data):
    return b"$-1\r\n" if data is None else b"$%d\r\n%s\r\n" % (len(data), data)


def array(*items):
    return b"*%d\r\n" % len(items) + b"".join(items)


def number(value):
    return b":%d\r\n" % value


def error(text):
    return b"-%s\r\n" % text.encode()


class Node:
    """Listens on loopback until close()."""

    def __init__(self, answer):
        self.answer = answer
        self.words = []  # of all commands, in the order of their arrival
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.seed = f"127.0.0.1:{self.port}"
        self.connections = []
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            self.threads.append(threading.Thread(target=self.serve, args=(connection,)))
            self.threads[-1].start()

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as stream:
                while self.serve_command(connection, stream):
                    pass
        except OSError:
            pass

    def serve_command(self, connection, stream):
        line = stream.readline()
        if not line:
            return False
        words = [stream.read(int(stream.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]
        self.words.append(words)
        reply = self.answer(words)
        if reply is not None and reply is not SILENCE:
            connection.sendall(reply)
        return reply is not None

    def named(self, name):
        """The commands of this name."""
        return [words for words in self.words if words[0] == name]

    def close(self):
        """Also interrupts the threads, which is not an error here."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join()


def slots(*ranges):
    """The reply to CLUSTER SLOTS for (first, last, port)."""
    return array(*(array(number(first), number(last), array(bulk(b"127.0.0.1"), number(port), bulk(b"id")))
                   for first, last, port in ranges))
