import os
import sys

import pytest


@pytest.mark.parametrize("number", range(10))
def test_number(number):
    assert os.environ.get("SUITE_FAILS") != "third" or number != 3


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
