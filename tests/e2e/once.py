"""once.py LOG KILLS SLACK: after each run of a build that is killed again and again, for `faults.py --check`.

LOG is the compilers' own (cc.jsonl). Of a source of the project, what had ended long before a kill is not compiled
again: SLACK seconds, in which ninja takes note of it. KILLS keeps the moments of the kills; the number of
sources done is added to the file `compiled`. Sources that CMake makes for its checks do not count.
"""
import json
import os
import sys
import time

log, moments, slack = sys.argv[1], sys.argv[2], float(sys.argv[3])
if os.environ["STATUS"] == "-9":
    with open(moments, "a") as f:
        print(time.time(), file=f)
kills = [float(line) for line in open(moments)] if os.path.exists(moments) else []
ended = {}
for line in open(log) if os.path.exists(log) else []:
    run = json.loads(line)
    made = any(part in run["input"] for part in ("/CMakeFiles/", "/CMakeScratch/"))
    if run["kind"] not in ("c", "c++", "hip") or "/tree/" not in run["input"] or made or run["status"]:
        continue
    before = ended.get(run["input"])
    if before and not any(before < kill + 0.05 and kill < before + slack for kill in kills):
        sys.exit(f"{run['input']} was compiled again, {run['start'] - before:.2f} s after it was done")
    ended[run["input"]] = run["start"] + run["waited"] + run["seconds"]
with open("compiled", "a") as f:
    print(len(ended), file=f)
