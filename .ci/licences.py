"""Reads `cargo metadata` and fails if a dependency's licence is not one that an AGPL-3.0-only program may take in."""

import json
import re
import sys

ALLOWED = {
    "0BSD", "AGPL-3.0-only", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0",
    "CC0-1.0", "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "MPL-2.0", "OpenSSL", "Unicode-3.0", "Unicode-DFS-2016",
    "Unlicense", "Zlib", "bzip2-1.0.6",
}


def fits(expression: str) -> bool:
    """An expression fits if some choice among its alternatives names allowed licences only."""
    expression = expression.replace("/", " OR ").replace("(", " ( ").replace(")", " ) ")
    tokens = re.sub(r"\s+WITH\s+", " WITH ", expression).split()
    python, name = [], []
    def flush():
        if name:
            python.append(str(" ".join(name) in ALLOWED))
            name.clear()
    for token in tokens:
        if token in ("AND", "OR", "(", ")"):
            flush()
            python.append(token.lower() if token.isalpha() else token)
        else:
            name.append(token)
    flush()
    return bool(eval(" ".join(python)))


packages = json.load(sys.stdin)["packages"]
wrong = [(p["name"], p["license"]) for p in packages if not fits(p["license"] or "none")]
for name, licence in wrong:
    print(f"{name}: {licence}")
print(f"{len(packages)} packages, {len(wrong)} with a licence that is not allowed")
sys.exit(bool(wrong))
