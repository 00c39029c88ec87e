"""What is fitted: trajectories in memory or streamed, cut into chunks."""

from wgsindy.data.arrays import (
    CENTRAL_RANGE,
    BoolArray,
    FloatArray,
    Frame,
    HashArray,
    IntArray,
    Scratch,
    frozen,
    scrambled,
    zeros,
)
from wgsindy.data.dataset import (
    BLOCK,
    CHUNK_SIZE,
    WINDOW_SIZE,
    Chunk,
    Dataset,
    Partition,
    Spans,
    Window,
    block_labels,
    whole_blocks,
)
from wgsindy.data.holes import BRIDGED, LONGEST_HOLE, velocity_name
from wgsindy.data.screening import LENGTH, SEGMENTS, Resolution, resolution_of, screened
from wgsindy.data.source import Block, FunctionSource, Source
from wgsindy.data.stream import Stream
from wgsindy.data.trajectories import Trajectories
from wgsindy.data.validation import number, numbers, whole

__all__ = [
    "BLOCK",
    "BRIDGED",
    "CENTRAL_RANGE",
    "CHUNK_SIZE",
    "LENGTH",
    "LONGEST_HOLE",
    "SEGMENTS",
    "WINDOW_SIZE",
    "Block",
    "BoolArray",
    "Chunk",
    "Dataset",
    "FloatArray",
    "Frame",
    "FunctionSource",
    "HashArray",
    "IntArray",
    "Partition",
    "Resolution",
    "Scratch",
    "Source",
    "Spans",
    "Stream",
    "Trajectories",
    "Window",
    "block_labels",
    "frozen",
    "number",
    "numbers",
    "resolution_of",
    "scrambled",
    "screened",
    "velocity_name",
    "whole",
    "whole_blocks",
    "zeros",
]
