"""Gossamer, a polite and durable web crawler. Start reading at `pipeline.py`, the map."""

__version__ = "0.1.0"
