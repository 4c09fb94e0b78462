"""Programs for people who work on this repository: the virtual environment, generated docs, figures and pictures."""
