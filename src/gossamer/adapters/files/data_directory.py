"""Where everything lies in a data directory (docs/files.md)."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DataDirectory:
    """`root` is the `--data` directory, absolute."""

    root: Path

    @property
    def state(self) -> Path:
        """RocksDB."""
        return self.root / "state" / "db"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes."""
        return self.root / "state" / "owner.lock"

    @property
    def socket(self) -> Path:
        """Where the process that holds the directory takes commands."""
        return self.root / "state" / "control.sock"

    def seen(self, crawl_id: str) -> Path:
        """The snapshot of a crawl's filter of known URLs, under `--seen bloom`."""
        return self.root / "state" / f"seen-{crawl_id}.bloom"

    @property
    def contacts(self) -> Path:
        """The contact log."""
        return self.root / "contacts"

    @property
    def resolved_config(self) -> Path:
        """The configuration as it was at the start of the newest run."""
        return self.root / "gossamer.toml"

    def raw(self, crawl_id: str) -> Path:
        """WARC segments and their indexes."""
        return self.root / "warc" / crawl_id

    def text(self, crawl_id: str) -> Path:
        """Text segments."""
        return self.root / "text" / crawl_id

    @property
    def has_state(self) -> bool:
        """Whether a crawl was ever started here."""
        return self.state.is_dir()
