/* What was proved of a wheel is true as long as the wheel is the same, byte for byte, and is proved by the same
 * program on the same SDK: then the record of the last build says it, and nothing is unpacked again. */
#include "base/fs.h"
#include "base/hash.h"
#include "flow/build.h"
#include "formats/node.h"

enum { MAX_RECORD = 64 << 20 };

/* All that a verdict depends on. */
static struct str key_of(struct arena *a, const struct build_request *q,
	const struct verify_options *o, const struct build_result *r)
{
	return sha256_hex(
		a, str_fmt(a, "%s %.*s %.*s %.*s %d %.*s %.*s %.*s", ROCSMITH_VERSION,
			   STR(fs_state(a, S("/proc/self/exe"))), STR(r->sha256), STR(r->wheel),
			   o->device_code, STR(str_join(a, &q->plan->gpus, S(","))), STR(o->sdk),
			   STR(r->sdk.fingerprint)));
}

static void take_finding(struct arena *a, const struct node *n, struct findings *list)
{
	enum severity s = SEV_INFO;
	struct strs fix;
	struct str word = node_text(n, S("severity"), S(""));
	while (s < SEV_ERROR && !str_eq(word, str_from(severity_name(s))))
		s++;
	struct finding *f = finding_add(
		a, list, str_z(a, node_text(n, S("id"), S(""))), s, node_text(n, S("path"), S("")));
	f->message = node_text(n, S("message"), S(""));
	if (!node_want_strs(a, n, S("fix"), &fix))
		f->fix = fix;
}

/* A wheel that did not pass is looked at again: the SDK may have been completed by hand. */
static bool take_verdict(struct arena *a, struct str members, struct build_result *ret)
{
	const struct node *doc;
	CLEANUP(err_freep)
	struct err *e = json_parse(a, str_fmt(a, "{%.*s", STR(members)), S("build.json"), &doc);
	const struct node *list = e ? NULL : node_get(node_get(doc, S("verify")), S("wheels"));
	if (!list || list->n != 1 || !str_eq(node_text(list->v, S("verdict"), S("")), S("pass")))
		return false;
	const struct node *findings = node_get(list->v, S("findings"));
	ret->verdict = (struct verdict){.path = ret->wheel, .pass = true};
	for (size_t i = 0; findings && i < findings->n; i++)
		take_finding(a, &findings->v[i], &ret->verdict.findings);
	return true;
}

struct err *build_proved(struct arena *a, const struct build_request *q,
	const struct verify_options *o, struct build_result *ret)
{
	struct digest d;
	struct str text;
	TRY(hash_file(HASH_SHA256, ret->wheel, &d));
	ret->sha256 = digest_hex(a, &d);
	ret->proof = key_of(a, q, o, ret);
	CLEANUP(err_freep)
	struct err *no = fs_read(a, path_join(a, ret->dir, S("build.json")), MAX_RECORD, &text);
	if (no)
		return NULL;
	/* no text of a stranger's can hold this: a quotation mark in it is escaped */
	struct str mark = str_fmt(a, "\"proof\":\"%.*s\",", STR(ret->proof));
	struct str members = str_sub(text, str_find(text, mark), text.n);
	if (members.n && take_verdict(a, members, ret))
		ret->proved = members;
	return NULL;
}
