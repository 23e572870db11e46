/* The trace: one JSON object a line, for `--trace FILE` and `rocsmith report`.
 *
 * {"t":0.012,"event":"child","argv":[...],"seconds":1.2,...}: t counts seconds from the start of
 * the process on the monotonic clock. Thread-safe; without trace_open() all calls do nothing.
 */
#pragma once

#include "base/err.h"

MUST_USE struct err *trace_open(struct str path);
void trace_close(void);
/* fields: JSON members without braces, e.g. "\"stage\":\"hipify\"" (see json_fields.h). */
void trace_event(const char *event, struct str fields);
