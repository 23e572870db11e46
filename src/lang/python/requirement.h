/* PEP 508 dependency specifiers: "NAME [extras] (specifiers or @ url) ; marker", as Requires-Dist has them.
 * Source: packaging.python.org, "Dependency specifiers". */
#pragma once

#include "base/err.h"

struct requirement { /* views of the text */
	struct str name, extras, specifier, url, marker;
};

/* E_SYNTAX says what is wrong: whatever installers would refuse. */
MUST_USE struct err *requirement_parse(struct str text, struct requirement *ret);
/* Its marker holds for sure, or there is none: on Linux, for CPython of this version ("3.12") and this machine
 * ("x86_64"), when no extra is asked for. What depends on anything else does not. */
bool requirement_holds(const struct requirement *r, struct str python, struct str platform);
