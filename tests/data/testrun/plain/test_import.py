import no_such_module  # cannot be collected
