"""DuckDB: bounded memory, spill to a private folder, results as a stream of Arrow batches. No other file calls it."""

from __future__ import annotations

import contextlib
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..sketch.workers import checked_threads
from .duckdb_errors import data_error
from .libraries import need

_BATCH = 1 << 16
_MEMORY = "512MB"
_MOST_THREADS = 4  # each holds about ten megabytes of what it reads

BlockQuery = Callable[[str, Any], Any]
"""Runs a query over the table `block`, and returns an Arrow table."""


class DuckDB:
    """A private connection, with a folder for spilled rows that is removed on closing. Use it in a `with` block.

    Data that do not fit into memory (people's pairs, groups) are spilled to a folder that only this user can read. It
    is not encrypted, and is removed at the end.
    """

    def __init__(self) -> None:
        need("pyarrow")
        self._duckdb = need("duckdb")
        self._folder = tempfile.mkdtemp(prefix="stablesketch-")  # mode 0700
        self._names: dict[str, str] = {}  # the originals of the files in it
        self._connection = self._duckdb.connect(":memory:")
        for name, value in (
            ("temp_directory", self._folder),
            ("memory_limit", _MEMORY),
            ("threads", str(min(checked_threads(None), _MOST_THREADS))),
            ("preserve_insertion_order", "false"),
            ("enable_progress_bar", "false"),
            ("enable_external_file_cache", "false"),
            ("autoinstall_known_extensions", "false"),
            ("autoload_known_extensions", "false"),
            ("allow_community_extensions", "false"),
            ("python_enable_replacements", "false"),  # a name in a query is not a variable of this program
        ):
            self._connection.execute(f"set {name} = {text_literal(value)}")

    def __enter__(self) -> DuckDB:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection and removes what it spilled."""
        with contextlib.suppress(Exception):
            self._connection.interrupt()
            self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def place(self, stands_for: str | Path, name: str) -> Path:
        """A place for a file that stands for another, under this name; messages name the original.

        Folders such as country=FR stay: they are columns.
        """
        kept = [part for part in Path(stands_for).parent.parts if "=" in part]
        folder = Path(self._folder, str(len(self._names)), *kept)
        folder.mkdir(parents=True)
        self._names[str(folder / name)] = str(stands_for)
        return folder / name

    def named(self, path: Path) -> str:
        """The name of a file in messages."""
        return self._names.get(str(path), str(path))

    def rows(self, query: str, source: str) -> list[tuple[Any, ...]]:
        """A small result, as a whole."""
        with self._typed_errors(source):
            found: list[tuple[Any, ...]] = self._stoppable(lambda: self._connection.sql(query).fetchall())
            return found

    def types(self, query: str, source: str) -> dict[str, str]:
        """The names and types of the columns of a query, which is not run."""
        return {name: str(kind) for name, kind in self.kinds(query, source).items()}

    def kinds(self, query: str, source: str) -> dict[str, Any]:
        """The same, with DuckDB's type objects: the fields of a struct are its `children`."""
        with self._typed_errors(source):
            relation = self._connection.sql(query)
            return dict(zip(relation.columns, relation.types, strict=True))

    def stream(self, query: str, source: str) -> Iterator[Any]:
        """The result as Arrow record batches, never all of it in memory.

        Only a relation's reader streams: the reader of an executed statement holds the whole result.
        """
        with self._typed_errors(source):
            reader = self._connection.sql(query).to_arrow_reader(_BATCH)
            try:
                yield from prefetched(reader)
            finally:
                reader.close()  # an open result would keep the connection busy

    def statements(self, text: str, source: str) -> list[tuple[str, str]]:
        """The statements in a text, as DuckDB's parser finds them, and the kind of each."""
        with self._typed_errors(source):
            return [(found.query, found.type.name) for found in self._connection.extract_statements(text)]

    def close_off(self, paths: Sequence[str]) -> None:
        """From here on only these files and patterns can be read, nothing can be loaded, and no setting can change
        except the order of rows, which this class sets."""
        allowed = ", ".join(text_literal(path) for path in paths)
        for setting in (
            f"allowed_paths = [{allowed}]",
            "enable_external_access = false",
            "allowed_configs = ['preserve_insertion_order']",
            "lock_configuration = true",
        ):
            self._connection.execute(f"set {setting}")

    def offer(self, name: str, work: Callable[..., Any]) -> None:
        """Offers queries a function from columns to 64 bits per row, replacing any of that name. Nulls are not
        allowed.
        """
        with contextlib.suppress(self._duckdb.InvalidInputException):  # there was none
            self._connection.remove_function(name)
        self._connection.create_function(name, work, None, "UBIGINT", type="arrow")

    def register(self, name: str, frame: Any) -> None:
        """Offers queries a frame, an Arrow table or a dataset as a table."""
        self._connection.register(name, frame)

    def for_blocks(self) -> BlockQuery:
        """Queries over one small table after another, which another thread may ask for."""
        cursor, invalid = self._connection.cursor(), self._duckdb.InvalidInputException

        def run(query: str, block: Any) -> Any:
            cursor.register("block", block)
            try:
                return cursor.sql(query).to_arrow_table()
            # A message that cuts one of the characters it quotes in two cannot be decoded.
            except (invalid, UnicodeDecodeError):
                raise InvalidBlock from None
            finally:
                cursor.unregister("block")

        return run

    def keep(self, name: str, batches: Any, source: str | None = None) -> None:
        """Stores a stream that can be read only once as a table; what does not fit is spilled."""
        with self._typed_errors(source or name):
            self._connection.register("arriving", batches)
            making = f"create temp table {name} as select * from arriving"
            with self.in_order():
                self._stoppable(lambda: self._connection.execute(making))
            self._connection.unregister("arriving")

    def _stoppable(self, work: Callable[[], Any]) -> Any:
        """The results of a query, run in a thread: Ctrl-C can stop the wait here, but not DuckDB itself."""
        done: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(1)

        def run() -> None:
            try:
                done.put((work(), None))
            except BaseException as error:
                done.put((None, error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            found, error = done.get()
        except BaseException:
            self._connection.interrupt()
            thread.join(timeout=10)
            raise
        if error is not None:
            raise error
        return found

    @contextlib.contextmanager
    def in_order(self) -> Iterator[None]:
        """Within the block, rows keep the order in which they are read; elsewhere no query may rely on it."""
        self._connection.execute("set preserve_insertion_order = true")
        try:
            yield
        finally:
            self._connection.execute("set preserve_insertion_order = false")

    @contextlib.contextmanager
    def _typed_errors(self, source: str) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            if str(error) != "Query interrupted":  # DuckDB's message for a signal that arrived while it worked
                raise
            raise KeyboardInterrupt from None
        except (self._duckdb.Error, OSError, need("pyarrow").ArrowException, UnicodeDecodeError) as error:
            # A failure after the first batch comes through Arrow, as an OSError with DuckDB's message. If the message
            # quotes a value and cuts a character in two, it cannot be decoded: the message is then the error's object.
            whole = error.object.decode(errors="replace") if isinstance(error, UnicodeDecodeError) else str(error)
            text = whole.strip()
            for path, name in self._names.items():
                text = text.replace(path, name)
            if isinstance(error, self._duckdb.OutOfMemoryException) or text.startswith("Out of Memory Error"):
                raise DataError(
                    source, f"reading needs more than {_MEMORY} of memory, or the disk is full",
                    f"Free space for temporary files in {tempfile.gettempdir()}, or set TMPDIR",
                ) from None  # fmt: skip
            if isinstance(error, self._duckdb.InterruptException) or text.startswith("INTERRUPT Error"):
                raise KeyboardInterrupt from None
            raise data_error(source, text) from None


class InvalidBlock(Exception):
    """A value of a block cannot be used in the query. DuckDB's message, which may quote it, is not kept."""


def prefetched(batches: Any) -> Iterator[Any]:
    """The batches, read ahead by a thread. Reading and folding share no lock, so both make progress.

    Unless it is read to the end, close it (contextlib.closing), so that the thread ends too.
    """
    waiting: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(2)
    stopped = threading.Event()

    def put(item: tuple[Any, BaseException | None]) -> bool:
        while not stopped.is_set():
            with contextlib.suppress(queue.Full):
                waiting.put(item, timeout=0.1)
                return True
        return False

    def pull() -> None:
        try:
            for batch in batches:
                if not put((batch, None)):
                    return
            put((None, None))
        except BaseException as error:
            put((None, error))

    reader = threading.Thread(target=pull, daemon=True)
    reader.start()
    try:
        while True:
            batch, error = waiting.get()
            if error is not None:
                raise error
            if batch is None:
                return
            yield batch
    finally:
        stopped.set()
        reader.join(timeout=10)


def text_literal(value: str) -> str:
    """A text literal in SQL. The only escape DuckDB has in it is a doubled quote."""
    return "'" + value.replace("'", "''") + "'"
