/* PEP 508 dependency specifiers, as in Requires-Dist: "NAME [extras] (specifiers or @ url) ; marker". Source:
 * packaging.python.org, "Dependency specifiers". */
#pragma once

#include "base/err.h"

struct requirement { /* views of the text */
	struct str name, extras, specifier, url, marker;
};

/* E_SYNTAX, which says what is wrong, for everything that installers refuse. */
MUST_USE struct err *requirement_parse(struct str text, struct requirement *ret);
/* The package that a requirement names, even if the rest of it is wrong: "My.Pkg[x] >=1" -> "my-pkg". */
struct str requirement_name(struct arena *a, struct str text);
/* Does the requirement certainly apply? It does without a marker, and with one that holds on Linux, for CPython of
 * this version ("3.12") and this machine ("x86_64"), with no extra requested. A marker that depends on anything else
 * is not certain. */
bool requirement_holds(const struct requirement *r, struct str python, struct str platform);
/* Can it apply there when this extra is requested ("": none)? It can, unless its marker certainly does not hold. */
bool requirement_may_hold(
	const struct requirement *r, struct str python, struct str platform, struct str extra);
