"""A door to Postgres behind which sessions stay when their clients go.

A new session has to read the catalog, and to compile and plan each function that it calls, which takes longer than most
tests. The next client gets an old one, as if new but for that. It is no pooler: a client keeps its session until it goes.
"""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Lock, Thread

PARKED = "parked"
"""The application name of a session that nobody has."""

RENEW = f"""
rollback; close all; set session authorization default; reset all; deallocate all; unlisten *; select pg_advisory_unlock_all();
discard temp; discard sequences; set application_name = '{PARKED}'
"""
# Settings of the database hold from the beginning of a session: where there are some, only a new one has them.
PLAIN = """
select 1 / (count(*) = 0)::int from pg_db_role_setting
 where setdatabase = (select oid from pg_database where datname = current_database())
"""
CANCEL, *ENCRYPTED = [number.to_bytes(4) for number in (80877102, 80877103, 80877104)]
USUAL = {"user", "database", "client_encoding", "application_name"}


class _Framer:
    """Cuts a stream into messages."""

    def __init__(self) -> None:
        self._rest = bytearray()

    @property
    def has_rest(self) -> bool:
        return bool(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """The type of each message that is whole by now."""
        self._rest += data
        found: list[bytes] = []
        while len(self._rest) >= 5 and len(self._rest) > (size := int.from_bytes(self._rest[1:5])):
            found.append(bytes(self._rest[:1]))
            del self._rest[: 1 + size]
        return found


class _Session:
    """A session of Postgres."""

    def __init__(self, place: str, startup: bytes) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self._heard, self._said = _Framer(), _Framer()
        self._is_whole = True  # nothing was said that the server does not answer yet
        self._owed = 1  # answers
        self._has_refused = False
        try:
            self.socket.connect(place)
            self.socket.sendall(startup)
            self.greeting = self._hear_all()
        except BaseException:
            self.socket.close()
            raise

    def hear(self) -> bytes:
        """What comes from the server; nothing when it has ended."""
        data = self.socket.recv(65536)
        for kind in self._heard.feed(data):
            self._owed -= kind == b"Z"
            self._has_refused |= kind == b"E"
        return data

    def say(self, data: bytes) -> bool:
        """Pass it on, unless it is a good-bye; whether it was none."""
        kinds = self._said.feed(data)
        self._owed += sum(kind in b"SQ" for kind in kinds)
        if kinds and kinds[-1] == b"X":
            return False
        self._is_whole = bool(kinds) and kinds[-1] in b"SQ" and not self._said.has_rest
        self.socket.sendall(data)
        return True

    def ask(self, script: str) -> bool:
        """Run a script; whether it succeeded."""
        text = script.encode() + b"\0"
        self._owed, self._has_refused = 1, False
        self.socket.sendall(b"Q" + (len(text) + 4).to_bytes(4) + text)
        self._hear_all()
        return not (self._owed or self._has_refused)

    @property
    def can_stay(self) -> bool:
        """Whether everything was answered."""
        return self._is_whole and self._owed == 0

    @property
    def is_alive(self) -> bool:
        """Whether nothing came while nobody asked: a server that ends a session says so."""
        with suppress(BlockingIOError):
            self.socket.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
            return False
        return True

    def end(self) -> None:
        """End it, and wait until its transaction has ended."""
        with self.socket, suppress(OSError):
            self.socket.sendall(b"X\0\0\0\4")
            while self.socket.recv(65536):
                pass

    def _hear_all(self) -> bytes:
        """Until everything is answered, or it has ended."""
        heard = b""
        while self._owed and (data := self.hear()):
            heard += data
        return heard


class _Door:
    def __init__(self, place: str) -> None:
        self._place = place
        self._parked: dict[bytes, list[_Session]] = {}
        self._is_closed = False
        self._lock = Lock()

    def serve(self, client: socket.socket) -> None:
        """Let somebody in, until he goes."""
        with client, suppress(OSError):
            while (startup := _receive_startup(client))[4:8] in ENCRYPTED:
                client.sendall(b"N")  # as Postgres says behind a Unix socket
            if startup[4:8] == CANCEL:
                self._cancel(startup)
                return
            words = startup[8:-2].split(b"\0")
            asked = dict(zip(words[::2], words[1::2], strict=True))
            is_usual = {name.decode() for name in asked} <= USUAL
            # Of the same name: RESET ALL brings back the name that a session began with.
            name = asked.get(b"application_name", b"").decode()
            place = b"\0".join((asked[b"user"], asked[b"database"], name.encode()))
            taken = self._take(place, name) if is_usual else None
            session = taken or _Session(self._place, startup)
            with suppress(OSError):
                client.sendall(session.greeting)
                stays = is_usual and (taken is not None or session.ask(PLAIN))
                _converse(client, session)
                if stays and session.can_stay and session.ask(RENEW) and self._park(place, session):
                    return
            session.end()

    def _park(self, place: bytes, session: _Session) -> bool:
        """Keep it for the next client; not after the end, when nobody would close it."""
        with self._lock:
            if not self._is_closed:
                self._parked.setdefault(place, []).append(session)
            return not self._is_closed

    def _take(self, place: bytes, name: str) -> _Session | None:
        with self._lock:
            parked = self._parked.setdefault(place, [])
            while parked:
                session = parked.pop()
                with suppress(OSError):
                    if session.is_alive and session.ask(f"{PLAIN}; set application_name = '{name}'"):
                        return session
                session.socket.close()
        return None

    def _cancel(self, request: bytes) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._place)
            connection.sendall(request)
            connection.recv(1)  # until it has been heard

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for session in (each for parked in self._parked.values() for each in parked):
                session.socket.close()


def _receive_startup(client: socket.socket) -> bytes:
    if len(size := client.recv(4, socket.MSG_WAITALL)) < 4:
        raise ConnectionError
    return size + client.recv(int.from_bytes(size) - 4, socket.MSG_WAITALL)


def _converse(client: socket.socket, session: _Session) -> None:
    """Until one of them goes."""
    with DefaultSelector() as selector:
        for each in (client, session.socket):
            selector.register(each, EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if session.socket in ready:
                data = session.hear()
                if not data:
                    raise ConnectionError
                client.sendall(data)
            if client in ready:
                data = client.recv(65536)
                if not data or not session.say(data):
                    return


@contextmanager
def warm_sessions(place: str, folder: Path) -> Generator[str]:
    """A door before the server whose socket is at `place`; the folder of its own socket, which is named alike."""
    door = _Door(place)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / Path(place).name))
        listener.listen(128)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    Thread(target=door.serve, args=(listener.accept()[0],), daemon=True).start()

        Thread(target=accept, daemon=True).start()
        yield str(folder)
        listener.shutdown(socket.SHUT_RDWR)
    door.close()
