"""Every way in which a test can end while its process lives."""
import os
import time
import unittest

import pytest


def test_passes():
    time.sleep(0.01)


@pytest.mark.parametrize("case", [1, 2, "a\x1b[31m\nb", "\u00fc:[", "</testcase>&"])
def test_case(case):
    assert case != 2, "two\nand more"


def test_case_all():
    """No skip of test_case skips it."""


@pytest.mark.xfail
def test_xfails():
    assert 0


@pytest.mark.xfail
def test_xpasses():
    pass


@pytest.mark.skip(reason="not here")
def test_skips():
    pass


@pytest.fixture
def torn():
    yield
    raise ValueError("torn down")


def test_torn(torn):
    pass


class TestUnit(unittest.TestCase):
    def test_sub(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)

    def test_environment(self):
        self.assertEqual(os.environ["OMP_NUM_THREADS"], str(len(os.sched_getaffinity(0))))
        self.assertNotIn("GPU_DEVICE_ORDINAL", os.environ)
