/* rocsmith publish: brings a stream of a store to where users get it. */
#include "cli/opt.h"
#include "release/release.h"
#include "term/out.h"

struct publish_args {
	struct common common;
	struct release_publish p;
};
#define ARGS struct publish_args

const struct opt cmd_publish_opts[] = {
	{OPT_ARGUMENT("STORE/STREAM", OPT_POS, p.place, "what is published"),
		.flags = OPT_REQUIRED},
	{OPT_VALUE(
		 "to", OPT_PATH, p.to, "PLACE", "a folder, s3://BUCKET/PREFIX, or an index server"),
		.flags = OPT_REQUIRED},
	{OPT_VALUE(
		"index-url", OPT_STR, p.index_url, "URL", "where users get it, to read it back")},
	{OPT_VALUE("python", OPT_STR, p.python, "PYTHON", "whose pip reads it back (python3)")},
	{OPT_VALUE("part-size", OPT_UINT, p.part, "MIB",
		"send larger files to a bucket in parts of so many MiB (256)")},
	{OPT_FLAG("unread", p.unread, "do not read it back")},
	OPT_LAST,
};

struct err *cmd_publish(struct arena *a, void *args)
{
	struct publish_args *o = args;
	struct release_publish *p = &o->p;
	size_t sent = 0;
	TRY(release_publish(a, p));
	if (show_made(&o->common, release_publish_fields, p))
		return NULL;
	VEC_EACH (const struct release_upload, u, &p->uploads) {
		sent += !u->done;
		if (!u->done && (o->common.dry_run || out_verbosity() > 0))
			out_fmt("%.*s\n", STR(u->key));
	}
	out_fmt("%.*s: %s%zu of %.*s, %.*s\n", STR(p->to),
		o->common.dry_run ? "would send " : "sent ", sent,
		STR(human_count(a, p->uploads.n, "file")), STR(human_bytes(a, p->bytes)));
	if (p->read.n)
		out_fmt("pip gets %.*s\n", STR(human_count(a, p->read.n, "wheel")));
	return NULL;
}
