/* Failing I/O on purpose: a program linked with fault.c and the linker's --wrap for each function
 * of fault.def counts the I/O calls of our own code, and the chosen one fails, or the process dies
 * just before it. Calls of the libraries and on the standard streams do not count.
 *
 * A whole program (rocsmith-fault) is steered from outside:
 *     ROCSMITH_FAULT_AT=N          the N-th call fails, counting from 1
 *     ROCSMITH_FAULT_ERRNO=NAME    with ENOSPC, EIO, EACCES, ENOMEM, EMFILE or EINTR, or KILL
 *     ROCSMITH_FAULT_COUNT=FILE    at the end the number of calls, and the name of the one hit
 */
#pragma once

#include <stdint.h>

enum { FAULT_KILL = -1 };

/* Starts to count anew; call at fails with this errno (or FAULT_KILL). at = 0: none fails. */
void fault_arm(uint64_t at, int how);
uint64_t fault_calls(void);  /* since fault_arm() */
const char *fault_hit(void); /* name of the call that failed, or NULL */
