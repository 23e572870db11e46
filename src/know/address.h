/* The public indexes of ROCm's and PyTorch's packages: data/addresses.yaml, compiled in, and the mirrors that stand in their
 * place on this machine. For AMD's ("amd") and PyTorch's ("torch") each, the first of these that is set counts:
 *
 *     1. the value of the command's option (--index-url)
 *     2. the variable ROCSMITH_AMD_INDEX or ROCSMITH_TORCH_INDEX; "" is as if it were not set
 *     3. `indexes: {amd: URL, torch: URL}` in the user's config.yaml (FS_CONFIG; a YAML file without other keys)
 *
 * In a mirror's address, {index} stands for the folder ("rocm7.2", "whl-next"). Without {index}, AMD's is the address of the
 * index itself, and PyTorch's gets "/rocm7.2" behind its end, as download.pytorch.org/whl has it.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"

struct address { /* data/addresses.yaml explains each column */
	const char *name, *vendor, *url, *folder, *variable, *seen;
	const char *const *evidence;
};
TABLE(address);

/* The address of the index with this name, and for "torch" of this folder in it: a mirror's, or the public one. It may
 * hold a password: print address_shown(). Fails with E_USAGE if a mirror's address is no http, https or file URL or could be
 * more than one word of a shell, with E_SYNTAX or E_PERM for a config.yaml that is malformed or not the user's own. */
MUST_USE struct err *address_of(
	struct arena *a, const char *name, struct str folder, struct str option, struct str *ret);
/* The variable that names a mirror for the public index whose host this text, such as an error, names; NULL if it names none. */
const char *address_variable(struct str text);
/* The name of AMD's index that publishes this version of ROCm: "10.1.0", "7.14.0a20260601"; nightlies are kept a month. */
const char *address_for_rocm(struct str version);
/* The URL without "user:password@". pip and uv then ask netrc or the user. */
struct str address_shown(struct arena *a, struct str url);
/* A text of data/ with the addresses of this machine's mirrors, as address_shown() gives them, in the place of public ones.
 * A mirror that address_of() refuses is left out. */
struct str address_in_text(struct arena *a, struct str text);
