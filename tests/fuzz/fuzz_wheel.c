/* The texts of a dist-info folder and wheel names: the first byte chooses the parser. What is
 * parsed and can be written again must read back as the same. */
#include <stdlib.h>

#include "wheel/wheel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void record(struct arena *a, struct str text)
{
	struct dist_record r, again;
	struct err *e = dist_record_parse(a, text, SIZE_MAX, &r);
	if (e) {
		err_free(e);
		return;
	}
	BUF(b, a);
	VEC_EACH (const struct dist_row, it, &r)
		dist_record_add(&b, it->path, S("x"), 1);
	if (dist_record_parse(a, buf_str(&b), r.n, &again) || again.n != r.n)
		abort();
	for (size_t i = 0; i < r.n; i++)
		if (!str_eq(r.v[i].path, again.v[i].path))
			abort();
}

static void headers(struct arena *a, struct str text)
{
	struct dist_headers h;
	err_free(dist_headers_parse(a, text, &h));
	VEC_EACH (const struct dist_header, it, &h)
		if (!dist_header(&h, str_z(a, it->key)))
			abort();
}

static void name(struct arena *a, struct str text)
{
	struct wheel_name n;
	struct err *e = wheel_name_parse(a, text, &n);
	if (!e && !str_ends(text, wheel_name_text(a, &n)))
		abort();
	if (!e && !wheel_tags(a, &n).n)
		abort();
	err_free(e);
}

static void requirement(struct str text)
{
	struct requirement r;
	struct err *e = requirement_parse(text, &r);
	if (!e && !requirement_holds(&r, S("3.12"), S("x86_64")) && !r.marker.n)
		abort(); /* without a marker it is for all */
	err_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ARENA(a);
	struct str text = {.p = (const char *)data + (size ? 1 : 0), .n = size ? size - 1 : 0};
	switch (size ? data[0] : 0) {
	case 'R':
		record(&a, text);
		break;
	case 'M':
		headers(&a, text);
		break;
	case 'N':
		name(&a, text);
		break;
	default:
		requirement(text);
		break;
	}
	return 0;
}
