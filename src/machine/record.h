/* Copying what was read into a folder; called by root.c, does nothing when nothing is recorded. */
#pragma once

#include "machine/root.h"

void record_text(struct root *r, struct str path, keep_fn *keep, struct str text);
void record_dir(struct root *r, struct str path);
void record_link(struct root *r, struct str path, struct str target);
void record_node(struct root *r, struct str path, const struct stat *st);
/* The mode and owner that a .nodes text ("dev/kfd 0660 0 109", one a line) gives for path. */
void record_owner_of(struct str nodes, struct str path, struct stat *st);
