/* Rules for the names of zip members, shared by reader and writer: relative, with forward slashes,
 * never above the folder that the archive is unpacked in. */
#include "formats/zip_format.h"

static const char *piece_problem(struct str piece)
{
	if (!piece.n)
		return "has an empty path element";
	if (str_eq(piece, S("..")))
		return "leads out of the folder that it is unpacked in";
	if (str_eq(piece, S(".")))
		return "has a '.' path element";
	return NULL;
}

const char *zip_name_problem(struct str name)
{
	if (!name.n)
		return "is empty";
	if (name.n > 4096)
		return "is longer than 4096 bytes";
	if (name.p[0] == '/')
		return "is absolute";
	char drive = name.n >= 2 && name.p[1] == ':' ? name.p[0] : 0;
	if ((drive >= 'a' && drive <= 'z') || (drive >= 'A' && drive <= 'Z'))
		return "begins with a drive letter";
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '\\')
			return "has a backslash";
		if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7f)
			return "has a control character";
	}
	struct str rest = name.p[name.n - 1] == '/' ? str_sub(name, 0, name.n - 1) : name, piece;
	if (!rest.n || rest.p[rest.n - 1] == '/')
		return "has an empty path element";
	const char *problem = NULL;
	for (size_t depth = 0; !problem && str_next(&rest, '/', &piece); depth++)
		problem = depth < 100 ? piece_problem(piece) : "is more than 100 folders deep";
	return problem;
}

bool zip_ascii(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] & 0x80)
			return false;
	return true;
}
