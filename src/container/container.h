/* Commands that start a container with GPUs: podman, docker, bwrap, systemd-nspawn.
 *
 * What a container gets is the same for all engines: device nodes, the groups that own them, binds, variables. How an
 * engine says it is a row of data/container.yaml, so that the code is one writer over that table. Everything is known
 * from facts (machine/machine.h), the command line and the names in a root folder: no engine is asked, and none needs
 * to be installed. Paths come from strangers: an argument that has one consists of that path, or has it quoted as the
 * engine reads it; nothing is given to a shell.
 */
#pragma once

#include "machine/machine.h"

struct container_engine { /* data/container.yaml */
	const char *name, *program, *package;
	bool image;      /* it takes images, and no folders */
	bool own_rights; /* it has the rights of who starts it, not those of root */
	bool entries;    /* it binds the entries of a root folder one by one */
};
TABLE(container_engine);

struct container_part { /* some words of a command */
	/* each: the kind of item for which the part is there once each; NULL: once. when: words that `words` of struct
	 * container or the item must have, or, behind '!', must not. */
	const char *engines, *each, *when;
	/* {NAME} is one of `values`, or, of an item: from, at; mode: "ro" or "rw"; "ro-", "-ro", ",readonly": themselves
	 * if it is read-only, else nothing; src,
	 * dst: the words of --mount; left, right: from and at with backslashes for colons */
	const char *const *args;
	const char *why, *refuse;
};
TABLE(container_part);

struct container_item {
	struct str kind; /* "device", "group", "bind", "variable", "entry", "command" */
	struct str from,
		at; /* variable: name and value; entry: its path, or a link's target, and its place */
	bool readonly, link;
};

struct container {
	const struct container_engine *engine;
	struct strs words;  /* "user" (not root), "selinux", "tty", ...: what `when` asks for */
	struct strs values; /* "NAME=value", for {NAME} */
	VEC(struct container_item) items;
	struct str image;  /* the image, or the root folder */
	struct str digest; /* "sha256:...", "" = a tag, or a folder */
	/* returned: the command; "OPTION: reason" for its options; what the user should know */
	struct strs argv, reasons, warnings;
};

/* Chooses the engine: the one named, or else the first one that is installed and takes what `image` is, or else the first
 * that takes it. E_USAGE for a name that is none, and for an image or folder that the engine does not take. */
MUST_USE struct err *container_open(
	struct arena *a, struct str engine, struct str image, struct container *ret);
/* Adds the nodes of these GPUs of the machine, their groups, and what follows from its user and SELinux. gpus: indices,
 * targets, "all" or "none"; E_USAGE for one that the machine does not have. */
MUST_USE struct err *container_machine(
	struct arena *a, const struct machine *m, const struct strs *gpus, struct container *io);
/* Adds "FROM[:AT][:ro]"; a colon or backslash of a path stands behind a backslash. */
MUST_USE struct err *container_bind(struct arena *a, struct str text, struct container *io);
void container_add(struct arena *a, const char *kind, struct str from, struct container *io);
/* Makes the command of all that was added. E_USAGE if the engine cannot say it. */
MUST_USE struct err *container_write(struct arena *a, struct container *io);
