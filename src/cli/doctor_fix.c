/* `rocsmith doctor --fix ID`: applies the fixes that set or unset variables, in the user's own start-up files; see
 * flow/login.h. */
#include "changes/changes.h"
#include "cli/doctor.h"
#include "flow/login.h"
#include "know/rule.h"
#include "term/out.h"

struct fixed { /* the document: rocsmith.fix/1 */
	struct str id;
	bool undo, dry_run;
	struct login_files files;
	struct strs now, costs; /* commands for the current session; trade-offs of the fixes */
};

static const char *status_of(const struct login_file *f)
{
	return !f->was ? "made" : f->stays ? "changed" : "removed";
}

static struct str diff_of(struct arena *a, const struct login_file *f)
{
	const struct changes_diff d = {.old_name = f->was ? f->path : S("/dev/null"),
		.new_name = f->stays ? f->path : S("/dev/null"),
		.old = f->old,
		.new = f->text};
	return changes_diff(a, &d);
}

static void write_status(struct json *j, const void *file)
{
	json_str(j, str_from(status_of(file)));
}

static void write_diff(struct json *j, const void *file)
{
	ARENA(tmp);
	json_str(j, diff_of(&tmp, file));
}

static const struct json_field file_fields[] = {
	FIELD("path", struct login_file, path),
	FIELD_WRITE("status", write_status),
	FIELD_WRITE("diff", write_diff),
	{.kind = FIELD_END},
};

static const struct json_field fixed_fields[] = {
	FIELD_CONST("schema", "rocsmith.fix/1"),
	FIELDS(struct fixed, id, undo, dry_run, now, costs),
	FIELD_LIST("files", struct fixed, files, file_fields),
	{.kind = FIELD_END},
};

/* Reports that the finding has no automatic fix, or that this machine does not have it. */
static void say_no(const struct doctor_fix *f, const struct machine *m, int *ret_status)
{
	bool found = false;
	VEC_EACH (const struct finding, x, &m->findings) {
		if (!str_eq(str_from(x->id), f->id))
			continue;
		found = true;
		say_warning("%.*s: this is not for rocsmith to change", STR(x->message));
		for (size_t i = 0; i < x->fix.n; i++)
			say_hint("%.*s", STR(x->fix.v[i]));
	}
	if (!found)
		say_status(
			S("Nothing"), "to fix: '%.*s' was not found on this machine", STR(f->id));
	*ret_status = found ? 1 : 0;
}

static void show(struct arena *a, const struct fixed *x)
{
	VEC_EACH (const struct login_file, f, &x->files) {
		if (x->dry_run)
			out_text(diff_of(a, f));
		else
			out_fmt("%s '%.*s'\n", status_of(f), STR(f->path));
	}
	if (!x->files.n)
		out_text(x->undo ? S("nothing of it is in your start-up files\n")
				 : S("your start-up files are as they should be\n"));
	VEC_EACH (const struct str, s, &x->now)
		out_fmt("in this session: %.*s\n", STR(*s));
	VEC_EACH (const struct str, s, &x->costs)
		out_fmt("mind: %.*s\n", STR(*s));
	if (x->files.n && !x->dry_run)
		out_text(x->undo ? S("the next login is without it\n")
				 : S("the next login has it\n"));
}

struct err *doctor_do_fix(
	struct arena *a, const struct doctor_fix *f, const struct machine *m, int *ret_status)
{
	struct fixed x = {.id = f->id, .undo = f->undo, .dry_run = f->common->dry_run};
	struct login_request r = {.id = f->id, .undo = f->undo};
	struct rule_actions actions;
	const struct node *facts;
	if (!rule_find(f->id)) {
		struct strs ids = rule_ids(a, false);
		return err_near(
			err_new(E_USAGE, "no finding has the id '%.*s'", STR(f->id)), f->id, &ids);
	}
	TRY(facts_of(a, m, &facts));
	TRY(rules_actions(a, facts, f->id, &actions));
	if (!f->undo && !actions.n) {
		say_no(f, m, ret_status);
		return NULL;
	}
	/* the first action for a variable counts, as the best fix comes first */
	VEC_EACH (const struct rule_action, action, &actions) {
		struct str name = action->unset, value;
		bool set = action->set.n && str_cut(action->set, '=', &name, &value);
		if (f->undo || !name.n || login_changes(&r, name))
			continue;
		strs_add(a, set ? &r.set : &r.unset, set ? action->set : name);
		strs_add(a, &x.now,
			set ? str_fmt(a, "export %.*s=%.*s", STR(name), STR(str_shell(a, value)))
			    : str_fmt(a, "unset %.*s", STR(name)));
		if (action->fix->tradeoff)
			strs_put(a, &x.costs, str_from(action->fix->tradeoff));
	}
	TRY(login_plan(a, &r, &x.files));
	if (!x.dry_run)
		TRY(login_apply(&x.files));
	if (!show_json(f->common, fixed_fields, &x))
		show(a, &x);
	return NULL;
}
