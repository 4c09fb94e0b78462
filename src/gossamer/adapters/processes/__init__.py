"""Parsers as child processes: `parser` is the owner's side, `worker` the child's, `frames` the pipe between them."""
