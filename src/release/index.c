/* Makes an index of folders with wheels; see release.h. */
#include "base/fs_stage.h"
#include "release/release.h"

static struct err *mark_yanked(struct release_index *io)
{
	struct str file, why;
	VEC_EACH (const struct str, word, &io->yank) {
		bool found = false;
		(void)str_cut(*word, '=', &file, &why);
		VEC_EACH (struct release_wheel, w, &io->wheels)
			if (str_eq(w->file, path_base(file))) {
				w->yanked = why.p ? why : S("");
				found = true;
			}
		if (!found)
			return err_new(E_NOENT, "there is no wheel '%.*s' to withdraw", STR(file));
	}
	return NULL;
}

struct err *release_index(struct arena *a, struct release_index *io)
{
	static const char receipt[] = "rocsmith-index.json";
	struct fs_stage s = {.place = path_abs(a, io->site), .receipt = str_from(receipt)};
	if (fs_present(s.place) && !fs_exists(path_join(a, s.place, s.receipt)))
		return err_hint(
			err_new(E_USAGE, "'%.*s' exists already, and is no index of rocsmith",
				STR(io->site)),
			"name another folder with -o");
	TRY(release_read(a, &io->paths, &io->wheels));
	release_sort(a, &io->wheels, false);
	TRY(mark_yanked(io));
	release_check(a, &io->wheels, NULL, &io->findings);
	io->projects = release_projects(a, &io->wheels);
	io->lacks = release_lacks(a, &io->wheels);
	VEC_EACH (const struct str, name, &io->lacks)
		finding_note(a, &io->findings, "release-lacks", *name,
			"a wheel requires '%.*s', which is not in the index", STR(*name))
			->severity = io->complete ? SEV_ERROR : SEV_INFO;
	io->refused = io->findings.n && findings_worst(&io->findings) == SEV_ERROR;
	if (io->refused || fs_writes_forbidden())
		return NULL;
	TRY(fs_stage_begin(a, &s));
	struct err *e = fs_mkdirs(s.tree);
	e = e ? e : release_put_all(a, &io->wheels, path_join(a, s.tree, S("files")));
	e = e ? e : release_site(a, &io->wheels, s.tree, S(""));
	e = e ? e : fs_stage_commit(&s, json_document(a, 2, release_index_fields, io));
	return err_join(e, fs_stage_end(&s));
}

static const struct json_field index_wheel_fields[] = FIELDS_ONLY(
	struct release_wheel, file, sha256, size, project, version, gpus, requires_python, yanked);

const struct json_field release_index_fields[] = {
	FIELD_CONST("schema", "rocsmith.index/1"),
	FIELDS(struct release_index, site, refused, projects, lacks),
	FIELD_LIST("wheels", struct release_index, wheels, index_wheel_fields),
	FIELD_LAST(FIELD_LIST("findings", struct release_index, findings, finding_fields)),
};
