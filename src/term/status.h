/* The status line: one transient line on a terminal, plain lines at most every 10 s elsewhere.
 * Listens to base/progress.h. Shows verb, object, done/total, rate and ETA. */
#pragma once

void status_init(void); /* after out_init() */
/* Takes the line away before something else is printed; it comes back by itself. */
void status_hide(void);
