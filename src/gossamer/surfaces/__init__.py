"""What people and other programs touch: today the command line, in `cli`.

A surface reads what was asked, calls what lies below, and says what came of it: results to stdout, progress and logs
to stderr, JSON on demand, an exit code that means something, one sentence instead of a traceback. It holds no rule and
no state. In reading order: `cli.main` (the table of commands), `cli.crawl` with `cli.progress` (what a run shows),
`cli.looking` (rows of crawls) and `cli.stored` (what they stored), `cli.rules` (the rules one by one), `cli.control`,
`cli.doctor`, `cli.first_crawl`.
"""
