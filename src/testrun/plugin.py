"""A plugin for pytest (7 and later) that `rocsmith test` loads with -p. $ROCSMITH_TEST names a folder with settings.json:

source   the folder to which ids of tests are relative
shard    its number, from 1, among `shards`: a test belongs to the shard that the hash of its id names
include  ids of what runs; [] = all. An id stands for itself and, as in pytest, for all below it
exclude  ids of what does not run: skip list, command line, what earlier processes have done
only     exact ids, without shards: for tests that are run again; [] = all

Each process writes two files into that folder: TIME-PID.journal, a line of JSON for each event, so that a process that dies
leaves what it knew; and TIME-PID.xml, pytest's own JUnit XML, which only a process that ended well has.
"""
import hashlib
import json
import os
import time

import pytest

FOLDER = os.environ["ROCSMITH_TEST"]
LONGEST = 2000


def whole(name):
    """Names of files may be no UTF-8, which JSON cannot hold."""
    return name.encode("utf-8", "backslashreplace").decode()


def trim(text):
    return whole(str(text).strip()[:LONGEST])


def is_in(name, ids):
    """Is it one of the ids, or below one of them? Below a::B lie a::B::c and a::B::c[1]."""
    if name in ids:
        return True
    return any(name[at] in ":[" and name[:at] in ids for at in range(1, len(name)))


class Recorder:
    def __init__(self, settings):
        self.settings = settings
        self.source = os.path.realpath(settings["source"])
        self.include, self.exclude, self.only = (set(settings[key]) for key in ("include", "exclude", "only"))
        self.stem = os.path.join(FOLDER, f"{time.time_ns():020d}-{os.getpid()}")
        self.fd = os.open(self.stem + ".journal", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.names, self.reports, self.pid = {}, [], os.getpid()

    def write(self, **row):
        if os.getpid() == self.pid:  # not a child that a test forked
            os.write(self.fd, json.dumps({**row, "time": time.time()}).encode() + b"\n")

    def path(self, path):
        return os.path.relpath(os.path.realpath(path), self.source)

    def name(self, item):
        _, colons, rest = item.nodeid.partition("::")
        return whole(self.path(item.path) + colons + rest)

    def is_mine(self, name):
        if self.only:
            return name in self.only
        number, of = self.settings["shard"], self.settings["shards"]
        digest = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
        return digest % of == number - 1 and (not self.include or is_in(name, self.include))

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config):
        if not getattr(config.option, "xmlpath", None):
            config.option.xmlpath = self.stem + ".xml"

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        keep, drop = [], []
        for item in items:
            name = self.names[item.nodeid] = self.name(item)
            mine = self.is_mine(name)
            out = mine and is_in(name, self.exclude)
            if out:
                self.write(event="excluded", id=name)
            (keep if mine and not out else drop).append(item)
        items[:] = keep
        if drop:
            config.hook.pytest_deselected(items=drop)

    def pytest_collection_finish(self, session):
        for number, item in enumerate(session.items):
            item.user_properties.append(("rocsmith", str(number)))
            self.write(event="collected", id=self.names[item.nodeid])

    def pytest_collectreport(self, report):
        if report.outcome == "passed":
            return
        path, colons, rest = report.nodeid.partition("::")
        name = whole(self.path(os.path.join(str(self.root), path)) + colons + rest)
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        if report.outcome == "failed":
            why = str(why).strip().splitlines()[-1:] or [""]
            self.write(event="result", id=name, outcome="error", message=trim("cannot be collected: " + why[0]), seconds=0.0)
        else:
            self.write(event="result", id=name, outcome="skipped", message=trim(why), seconds=0.0)

    def pytest_sessionstart(self, session):
        self.root = session.config.rootpath

    def pytest_runtest_logstart(self, nodeid):
        self.reports = []
        self.write(event="start", id=self.names.get(nodeid, nodeid))

    def pytest_runtest_logreport(self, report):
        self.reports.append(report)

    def pytest_runtest_logfinish(self, nodeid):
        outcome, message, reruns = "passed", "", 0
        for report in self.reports:
            reruns += report.outcome == "rerun"
            if report.outcome == "failed":
                if outcome != "failed":
                    outcome, message = ("failed" if report.when == "call" else "error"), self.why(report)
            elif hasattr(report, "wasxfail"):
                outcome, message = ("xfailed" if report.outcome == "skipped" else "xpassed"), trim(report.wasxfail)
            elif report.outcome == "skipped" and outcome == "passed":
                outcome, message = "skipped", self.why(report)
        self.write(event="result", id=self.names.get(nodeid, nodeid), outcome=outcome, message=message, reruns=reruns,
            seconds=sum(report.duration for report in self.reports))

    @staticmethod
    def why(report):
        if isinstance(report.longrepr, tuple):
            return trim(report.longrepr[2])
        crash = getattr(report.longrepr, "reprcrash", None)
        return trim(crash.message if crash else report.longreprtext)

    def pytest_sessionfinish(self, exitstatus):
        self.write(event="end", status=int(exitstatus))


def pytest_configure(config):
    """Comes before the plugin that writes JUnit XML looks for its path."""


def pytest_load_initial_conftests(early_config):
    with open(os.path.join(FOLDER, "settings.json"), encoding="utf-8") as file:
        early_config.pluginmanager.register(Recorder(json.load(file)), "rocsmith-recorder")
