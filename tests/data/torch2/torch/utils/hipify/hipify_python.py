# Written for the tests: rocsmith has to see that it does not know this algorithm.
def hipify(*arguments):
    raise SystemExit("this hipify is a fake")
