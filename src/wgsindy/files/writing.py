"""Results on disk, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part of it."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with open(draft, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
