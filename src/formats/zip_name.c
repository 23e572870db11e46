/* Rules for the names of zip members, shared by reader and writer: relative, with forward slashes,
 * never above the folder that the archive is unpacked in. */
#include "formats/zip_format.h"

static bool is_drive(struct str name)
{
	char c = name.n >= 2 && name.p[1] == ':' ? name.p[0] : 0;
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Length of the UTF-8 sequence at s.p[0], or 0 when it is none (overlong, surrogate, cut short). */
static size_t sequence(struct str s)
{
	static const struct {
		unsigned char from, to, low, high; /* lead bytes; bounds of the second byte */
		unsigned char n;
	} leads[] = {
		{.from = 0x00, .to = 0x7f, .n = 1},
		{.from = 0xc2, .to = 0xdf, .low = 0x80, .high = 0xbf, .n = 2},
		{.from = 0xe0, .to = 0xe0, .low = 0xa0, .high = 0xbf, .n = 3},
		{.from = 0xe1, .to = 0xec, .low = 0x80, .high = 0xbf, .n = 3},
		{.from = 0xed, .to = 0xed, .low = 0x80, .high = 0x9f, .n = 3},
		{.from = 0xee, .to = 0xef, .low = 0x80, .high = 0xbf, .n = 3},
		{.from = 0xf0, .to = 0xf0, .low = 0x90, .high = 0xbf, .n = 4},
		{.from = 0xf1, .to = 0xf3, .low = 0x80, .high = 0xbf, .n = 4},
		{.from = 0xf4, .to = 0xf4, .low = 0x80, .high = 0x8f, .n = 4},
	};
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0, n = sizeof(leads) / sizeof(leads[0]);
	while (i < n && (p[0] < leads[i].from || p[0] > leads[i].to))
		i++;
	if (i == n || leads[i].n > s.n)
		return 0;
	if (leads[i].n > 1 && (p[1] < leads[i].low || p[1] > leads[i].high))
		return 0;
	for (size_t k = 2; k < leads[i].n; k++)
		if (p[k] < 0x80 || p[k] > 0xbf)
			return 0;
	return leads[i].n;
}

bool zip_utf8(struct str s)
{
	while (s.n) {
		size_t n = sequence(s);
		if (!n)
			return false;
		s = str_sub(s, n, s.n);
	}
	return true;
}

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
	if (is_drive(name))
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
