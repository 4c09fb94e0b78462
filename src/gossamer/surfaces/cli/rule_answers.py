"""From a question about one rule to its answer, as JSON has it. Reading and writing is `json_lines`, options `rules`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import ada_url

from gossamer.core.page import TextKind
from gossamer.core.robots import RobotsDecision, RobotsFile
from gossamer.core.sitemap import Sitemap
from gossamer.core.url import URL_CHARS_MAX, Url, UrlFault, hex_key, host_of, normalize, site_of, url_key
from gossamer.surfaces.cli.json_lines import Answer, BadRequest, Request, shown
