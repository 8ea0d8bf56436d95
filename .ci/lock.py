"""Write requirements.lock: the exact version and the hash of every dependency, for Linux x86-64 and CPython 3.11.

    pip install --dry-run --ignore-installed --no-deps --report REPORT -r constraints.txt
    python .ci/lock.py REPORT
"""

import json
import re
import sys
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.lock"
HEADER = "# Linux x86-64, CPython 3.11: pip install --require-hashes --no-deps -r requirements.lock\n"

rows = []
for entry in json.loads(Path(sys.argv[1]).read_text())["install"]:
    name = re.sub(r"[-_.]+", "-", entry["metadata"]["name"]).lower()
    digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
    rows.append(f"{name}=={entry['metadata']['version']} --hash=sha256:{digest}\n")
LOCK.write_text(HEADER + "".join(sorted(rows)))
