/* Several known projects that belong together, built one after another: torch, what it pins (triton), and its neighbours.
 *
 * set_open() brings them into the order in which they need each other (`after` of their descriptions), makes all plans
 * and one forecast before anything is built. A wheel that an earlier member will make is promised to the plans of the
 * later ones; when it is there, set_renew() makes the plan anew with it. What torch pins is added to its requirements
 * by PYTORCH_EXTRA_INSTALL_REQUIREMENTS (setup.py of PyTorch). Each member has its own build folder, so one that failed
 * goes on alone, and those that are finished are not built again. */
#pragma once

#include "flow/build.h"

struct set_member {
	struct str name;
	struct strs after; /* members before it, which it needs */
	struct plan_request request;
	struct plan_wish wish;
	struct forecast forecast;
	struct str dir;   /* build folder; "" = build_folder() */
	struct str wheel; /* its result, once it is built; "" = not yet */
	bool finished;    /* an earlier build of it was complete, so its time counts for nothing */
};

struct build_set {
	VEC(struct set_member) v; /* in the order of building */
	struct forecast all;      /* sums of time and disk, the largest memory */
};

/* Is the word a list of projects, "torch,torchvision"? A folder of that name is none. */
bool set_is(struct str word);
/* q: what all members share; q->dir is the list; q->source: "" (lock or the descriptions' own origins), or
 * NAME=WHERE,NAME=WHERE. dir: a folder for the build folders, or "". E_USAGE, and what plan_make() returns. */
MUST_USE struct err *set_open(struct arena *a, const struct plan_request *q, struct str dir,
	unsigned jobs, struct build_set *ret);
/* Makes the plan of a member with the wheels of those before it. */
MUST_USE struct err *set_renew(struct arena *a, struct build_set *set, struct set_member *io);
