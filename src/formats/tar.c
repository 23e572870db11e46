/* Tar headers and gzip; see tar.h. */
#include "formats/tar.h"

#include <libdeflate.h>

enum { BLOCK = 512, NAME_BYTES = 100, EXTENDED = 'x' };

struct tar_header { /* ustar (IEEE Std 1003.1, pax); fields that we do not fill in are 0 */
	char name[NAME_BYTES], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type;
	char link[NAME_BYTES], magic[8], names[64], device[16], prefix[155], pad[12];
};

static void put_octal(char *field, size_t n, uint64_t value)
{
	field[--n] = 0;
	for (; n-- > 0; value >>= 3)
		field[n] = (char)('0' + (value & 7));
}

static void put_name(char *field, struct str s)
{
	s = str_sub(s, 0, NAME_BYTES);
	if (s.n)
		memcpy(field, s.p, s.n);
}

static void add_block(struct buf *out, const struct tar_member *m, char type, struct str content)
{
	struct tar_header h = {.type = type, .magic = {'u', 's', 't', 'a', 'r', 0, '0', '0'}};
	unsigned sum = 0;
	_Static_assert(sizeof(h) == BLOCK, "a header is a block");
	put_name(h.name, m->path);
	put_name(h.link, type == TAR_LINK ? m->text : S(""));
	put_octal(h.mode, sizeof(h.mode), m->mode);
	put_octal(h.uid, sizeof(h.uid), 0);
	put_octal(h.gid, sizeof(h.gid), 0);
	put_octal(h.size, sizeof(h.size), type == TAR_FILE && m->size ? m->size : content.n);
	put_octal(h.mtime, sizeof(h.mtime), 0);
	memset(h.sum, ' ', sizeof(h.sum));
	for (size_t i = 0; i < BLOCK; i++)
		sum += ((const unsigned char *)&h)[i];
	put_octal(h.sum, sizeof(h.sum) - 1, sum);
	buf_add(out, (struct str){.p = (const char *)&h, .n = BLOCK});
	buf_add(out, content);
	buf_space(out, (BLOCK - content.n % BLOCK) % BLOCK);
}

/* Adds "LENGTH KEY=VALUE\n"; the length counts its own digits as well. */
static void add_record(struct buf *out, const char *key, struct str value)
{
	struct str rest = str_fmt(out->a, " %s=%.*s\n", key, STR(value)), all = rest;
	for (size_t n = 0; n != all.n;) {
		n = all.n;
		all = str_fmt(out->a, "%zu%.*s", n, STR(rest));
	}
	buf_add(out, all);
}

void tar_add(struct buf *out, const struct tar_member *m)
{
	BUF(extended, out->a);
	if (m->path.n > NAME_BYTES)
		add_record(&extended, "path", m->path);
	if (m->type == TAR_LINK && m->text.n > NAME_BYTES)
		add_record(&extended, "linkpath", m->text);
	if (extended.n)
		add_block(out, m, EXTENDED, buf_str(&extended));
	add_block(out, m, (char)m->type, m->type == TAR_FILE ? m->text : S(""));
}

void tar_end(struct buf *out)
{
	buf_space(out, (size_t)2 * BLOCK);
}

struct str gzip_text(struct arena *a, struct str text)
{
	enum { LEVEL = 9 };
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
	BUF(out, a);
	size_t most = c ? libdeflate_gzip_compress_bound(c, text.n) : 0;
	if (c)
		out.n = libdeflate_gzip_compress(c, text.p, text.n, buf_space(&out, most), most);
	libdeflate_free_compressor(c);
	return buf_str(&out);
}
