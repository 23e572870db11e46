/* JSON forms of the sdk commands; see sdk_show.h and rocsmith-sdk(1). */
#include "cli/sdk_show.h"

#include "base/vec.h"
#include "formats/json_write.h"
#include "term/out.h"

static const char *const runners[] = {
	[SDK_DIRECT] = "direct",
	[SDK_BWRAP] = "bwrap",
	[SDK_BWRAP_NET] = "bwrap with network",
	[SDK_CHROOT] = "chroot",
	[SDK_NORUN] = "none",
};

static void put_components(struct json *j, const struct sdk *sdk)
{
	json_key(j, "versions");
	json_open(j, '{');
	VEC_EACH (const struct sdk_component, c, &sdk->components) {
		json_key_str(j, c->name);
		json_str(j, c->version);
	}
	json_close(j);
}

static void put_targets(struct json *j, const struct sdk_targets *t)
{
	json_key(j, "targets");
	json_open(j, '[');
	for (size_t i = 0; i < t->names.n; i++) {
		json_open(j, '{');
		json_put(j, "target", t->names.v[i]);
		json_put_bool(j, "compiles", t->ok[i]);
		if (!t->ok[i])
			json_put(j, "why", t->why[i]);
		json_close(j);
	}
	json_close(j);
}

static void put_paths(struct json *j, const struct sdk *sdk)
{
	json_key(j, "paths");
	json_open(j, '{');
	json_put(j, "root", sdk->root);
	json_put(j, "clang", sdk->clang);
	json_put(j, "device_libs", sdk->device_libs);
	json_put(j, "hip", sdk->hip_path);
	json_put(j, "include", sdk->include);
	json_put_strs(j, "lib", &sdk->lib_dirs);
	json_close(j);
}

static void put_done(struct json *j, const struct sdk_done *d)
{
	json_key(j, "done");
	json_open(j, '{');
	json_put_bool(j, "nothing", d->nothing);
	json_put_u64(j, "packages", d->packages);
	json_put_u64(j, "bytes", d->bytes);
	json_put_u64(j, "repaired", d->repaired);
	json_close(j);
}

void show_sdk_json(struct arena *a, const struct sdk *sdk, const struct sdk_targets *targets,
	const struct sdk_done *done)
{
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.sdk-info/1"));
	json_put(&j, "name", sdk->name);
	json_put(&j, "provider", sdk->provider);
	json_put(&j, "suite", sdk->suite);
	json_put_strs(&j, "components", &sdk->requested);
	json_put(&j, "index_date", sdk->index_date);
	json_put_strs(&j, "notes", &sdk->notes);
	json_put_u64(&j, "packages", sdk->packages);
	json_put_u64(&j, "bytes", sdk->bytes);
	json_put(&j, "fingerprint", sdk->fingerprint);
	json_put(&j, "runs_by", str_from(runners[sdk->runner]));
	put_components(&j, sdk);
	put_paths(&j, sdk);
	json_put_strs(&j, "clang_flags", &sdk->clang_flags);
	if (targets)
		put_targets(&j, targets);
	if (done)
		put_done(&j, done);
	json_close(&j);
	buf_char(&out, '\n');
	out_text(buf_str(&out));
}

void show_preview_json(struct arena *a, const struct sdk_done *d, const struct strs *packages)
{
	BUF(out, a);
	struct json j = {.out = &out, .indent = 2};
	json_open(&j, '{');
	json_put(&j, "schema", S("rocsmith.sdk-preview/1"));
	json_put_bool(&j, "nothing", d->nothing);
	json_put_strs(&j, "packages", packages);
	json_put_u64(&j, "bytes", d->bytes);
	json_close(&j);
	buf_char(&out, '\n');
	out_text(buf_str(&out));
}
