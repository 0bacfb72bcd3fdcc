/* fusion/vm/files.c -- modules that are files of the program: see files.h. */
#include "fusion/vm/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/modules.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/run.h"

enum { PATH_BYTES = 512 };

struct files {
	const struct lang_files *of;
	const char *roots[3]; /* "", "src/": where top modules lie, the first of them first */
	int n_roots;
	VEC(struct vm_file *) at; /* those that were imported; the entry's is the first */
};

/* ---- which file a name is. ---- */

struct place_found {
	const struct lang_file *file; /* NULL: a folder alone */
	char folder[PATH_BYTES];      /* of a package; "" else */
};

static const struct lang_file *file_of(const struct lang_files *files, const char *path)
{
	for (int i = 0; i < files->n; i++)
		if (strcmp(files->at[i].path, path) == 0)
			return &files->at[i];
	return NULL;
}

static bool folder_exists(const struct lang_files *files, const char *folder)
{
	size_t len = strlen(folder);

	for (int i = 0; i < files->n; i++)
		if (strncmp(files->at[i].path, folder, len) == 0)
			return true;
	return false;
}

/* The module `name` (without dots) in the folder: a package, a file or, where `bare`, a folder
 * without __init__.py. */
static bool look_in(const struct lang_files *files, const char *folder, const char *name, bool bare,
		    struct place_found *out)
{
	char path[PATH_BYTES];

	*out = (struct place_found){ 0 };
	if (snprintf(path, sizeof(path), "%s%s/__init__.py", folder, name) >= (int)sizeof(path))
		return false;
	out->file = file_of(files, path);
	if (out->file || bare)
		snprintf(out->folder, sizeof(out->folder), "%s%s/", folder, name);
	if (bare)
		return folder_exists(files, out->folder);
	if (out->file)
		return true;
	snprintf(path, sizeof(path), "%s%s.py", folder, name);
	out->file = file_of(files, path);
	return out->file != NULL;
}

/* The part of the path up to its last /, with it. */
static size_t folder_len(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len;
}

/* The folder, of so many bytes, that the outermost package of an entry lies in. */
static size_t outermost(const struct lang_files *files, size_t len)
{
	const char *path = files->at[0].path;

	while (len > 0) {
		char init[PATH_BYTES];

		snprintf(init, sizeof(init), "%.*s__init__.py", (int)len, path);
		if (!file_of(files, init))
			break;
		len = folder_len(path, len - 1);
	}
	return len;
}

/* Where a folder begins that top modules lie in; the entry's own is the first. */
static int find_roots(const struct lang_files *files, char first[PATH_BYTES], const char *roots[3])
{
	const char *path = files->at[0].path;
	size_t len = outermost(files, folder_len(path, strlen(path)));
	int n = 0;

	snprintf(first, PATH_BYTES, "%.*s", (int)len, path);
	roots[n++] = first;
	if (len > 0)
		roots[n++] = "";
	if (strcmp(first, "src/") != 0)
		roots[n++] = "src/";
	return n;
}

static bool find_top(const struct lang_files *files, const char *const *roots, int n,
		     const char *name, struct place_found *out)
{
	if (strcmp(name, "torch") == 0)
		return false;
	for (int bare = 0; bare < 2; bare++)
		for (int i = 0; i < n; i++)
			if ((!bare || !module_is_native(name)) &&
			    look_in(files, roots[i], name, bare, out))
				return true;
	return false;
}

bool files_have(const struct lang_files *files, const char *name)
{
	char first[PATH_BYTES], top[MODULE_NAME_BYTES];
	const char *roots[3];
	struct place_found found;
	int n;

	if (!files)
		return false;
	if (name[0] == '.')
		return true;
	n = find_roots(files, first, roots);
	snprintf(top, sizeof(top), "%.*s", (int)strcspn(name, "."), name);
	return find_top(files, roots, n, top, &found);
}

/* ---- a file's module. ---- */

static bool set_text(struct vm *vm, struct vm_file *f, const char *name, const char *text)
{
	int slot = vm_global_slot(vm, f->owner, name);

	if (slot < 0)
		return false;
	vm->globals[slot].value = text ? value_str(text, strlen(text)) : value_none();
	return vm->globals[slot].value.kind != VALUE_UNSET;
}

static bool set_names(struct vm *vm, struct vm_file *f)
{
	char path[PATH_BYTES];
	const struct lang_program *p = f->file ? f->file->program : NULL;

	snprintf(path, sizeof(path), "/%s", f->file ? f->file->path : "");
	return set_text(vm, f, "__name__", f->name) && set_text(vm, f, "__package__", f->package) &&
	       set_text(vm, f, "__file__", f->file ? path : NULL) &&
	       set_text(vm, f, "__doc__", p ? p->module->doc : NULL);
}

/* A module of that name at the place, not run yet; NULL: out of memory. */
static struct vm_file *add(struct vm *vm, const char *name, const struct place_found *at)
{
	struct vm_file *f = ARENA_ARRAY(&vm->arena, struct vm_file, 1);
	const char *dot = strrchr(name, '.');
	bool is_package = at->folder[0] != '\0';

	if (!f)
		return NULL;
	*f = (struct vm_file){ .name = arena_strdup(&vm->arena, name),
			       .file = at->file,
			       .owner = f,
			       .unit = &f->own,
			       .state = at->file ? FILE_NOT_RUN : FILE_HAS_RUN };
	f->package = is_package
			 ? f->name
			 : arena_printf(&vm->arena, "%.*s", dot ? (int)(dot - name) : 0, name);
	if (is_package)
		f->folder = arena_strdup(&vm->arena, at->folder);
	if (!f->name || !f->package || (is_package && !f->folder))
		return NULL;
	f->module = value_module(f->name);
	if (f->module.kind != VALUE_MODULE)
		return NULL;
	f->module.module->file = f;
	if (!VEC_PUSH(&vm->files->at, f)) {
		value_unref(f->module);
		return NULL;
	}
	return f->file || set_names(vm, f) ? f : NULL;
}

/* "models/unet.py", whose outermost package lies in a folder of `len` bytes: "models.unet". */
static void entry_name(const char *path, size_t len, char out[PATH_BYTES])
{
	char *end;

	snprintf(out, PATH_BYTES, "%s", path + len);
	end = strrchr(out, '.');
	if (end)
		*end = '\0';
	for (char *c = out; *c; c++)
		if (*c == '/')
			*c = '.';
	end = strrchr(out, '.');
	if (end && strcmp(end, ".__init__") == 0)
		*end = '\0';
}

/* The entry's own module: its globals are those without an owner. */
static bool add_entry(struct vm *vm, size_t package_at)
{
	const struct lang_file *file = &vm->files->of->at[0];
	struct place_found at = { .file = file };
	size_t folder = folder_len(file->path, strlen(file->path));
	char name[PATH_BYTES];
	struct vm_file *f;

	/* in a folder without __init__.py it has that folder's name, too: its files may say
	 * `from .x import y` */
	entry_name(file->path, package_at == folder ? 0 : package_at, name);
	if (strcmp(file->path + folder, "__init__.py") == 0)
		snprintf(at.folder, sizeof(at.folder), "%.*s", (int)folder, file->path);
	f = add(vm, name, &at);
	if (!f)
		return false;
	f->owner = NULL;
	f->unit = &vm->module;
	vm->module = (struct unit){ .code = file->program->module, .home = f };
	return set_names(vm, f);
}

bool files_begin(struct vm *vm)
{
	const struct lang_files *of = vm->program->files;
	char first[PATH_BYTES];
	const char *roots[3];

	vm->files = ARENA_ARRAY(&vm->arena, struct files, 1);
	if (!vm->files)
		return false;
	*vm->files = (struct files){ .of = of };
	vm->files->n_roots = find_roots(of, first, roots);
	for (int i = 0; i < vm->files->n_roots; i++) {
		vm->files->roots[i] = arena_strdup(&vm->arena, roots[i]);
		if (!vm->files->roots[i])
			return false;
	}
	return add_entry(vm, strlen(first));
}

void files_release(struct vm *vm)
{
	if (!vm->files)
		return;
	for (size_t i = 0; i < vm->files->at.len; i++) {
		struct vm_file *f = vm->files->at.at[i];

		unit_release(&f->own);
		value_unref(f->module);
	}
	VEC_FREE(&vm->files->at);
}

/* ---- import. ---- */

/* Its code; what it fails with is the file's own. */
static bool prepare(struct vm *vm, struct vm_file *f, struct err *err)
{
	if (f->unit->code)
		return true;
	if (!f->file->program) {
		*err = f->file->failed;
		return false;
	}
	if (!set_names(vm, f))
		return vm_out_of_memory(vm, err);
	f->own = (struct unit){ .code = f->file->program->module, .owner = f->owner, .home = f };
	return true;
}

/* Capture imports as Python does, at once: the module's code runs on the VM's first host. */
static bool run_code(struct vm *vm, struct unit *unit, struct err *err)
{
	struct vm_host *host = vm->host;
	bool ok;

	if (host != vm->first_host) {
		vm->host = vm->first_host;
		vm->epoch++;
	}
	ok = vm_run_unit(vm, unit, NULL, err);
	if (vm->host != host) {
		vm->host = host;
		vm->epoch++;
	}
	return ok;
}

static bool run(struct vm *vm, struct vm_file *f, struct err *err)
{
	if (f->state != FILE_NOT_RUN)
		return true;
	if (!prepare(vm, f, err))
		return false;
	f->state = FILE_RUNNING;
	if (!run_code(vm, f->unit, err)) {
		f->state = FILE_NOT_RUN; /* the next import runs it again, as Python's does */
		return false;
	}
	f->state = FILE_HAS_RUN;
	return true;
}

static struct vm_file *known(const struct vm *vm, const char *name, const struct place_found *found)
{
	for (size_t i = 0; i < vm->files->at.len; i++) {
		struct vm_file *f = vm->files->at.at[i];

		if (found ? found->file && f->file == found->file : strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

/* parent.name, found or made; *out NULL: there is no such file. */
static bool find(struct vm *vm, const struct vm_file *parent, const char *full, const char *name,
		 struct vm_file **out, struct err *err)
{
	const struct files *files = vm->files;
	struct place_found at;
	bool found;

	*out = known(vm, full, NULL);
	if (*out)
		return true;
	if (!parent)
		found = find_top(files->of, files->roots, files->n_roots, name, &at);
	else
		found = parent->folder && (look_in(files->of, parent->folder, name, false, &at) ||
					   look_in(files->of, parent->folder, name, true, &at));
	if (!found)
		return true;
	*out = known(vm, NULL, &at);
	if (!*out)
		*out = add(vm, full, &at);
	return *out || vm_out_of_memory(vm, err);
}

/* Its package has it by its name, once it has run. */
static bool bind(struct vm *vm, struct vm_file *parent, const char *name, struct vm_file *f,
		 struct err *err)
{
	const char *kept = arena_strdup(&vm->arena, name);
	int slot = kept ? vm_global_slot(vm, parent->owner, kept) : -1;

	if (slot < 0)
		return vm_out_of_memory(vm, err);
	store(&vm->globals[slot].value, value_ref(f->module));
	return true;
}

/* The module below `parent` and all between; *out NULL: the first one is not the program's. */
static bool import_name(struct vm *vm, const char *name, struct vm_file **out, struct err *err)
{
	struct vm_file *parent = NULL, *f;

	*out = NULL;
	for (const char *at = name; *at;) {
		size_t len = strcspn(at, ".");
		char full[MODULE_NAME_BYTES], one[MODULE_NAME_BYTES];
		bool fresh;

		snprintf(full, sizeof(full), "%.*s", (int)(at + len - name), name);
		snprintf(one, sizeof(one), "%.*s", (int)len, at);
		if (!find(vm, parent, full, one, &f, err))
			return false;
		if (!f)
			return !parent ||
			       vm_raise(vm, CLASS_MODULE_NOT_FOUND, err,
					parent->folder
					    ? "No module named '%s'"
					    : "No module named '%s'; '%s' is not a package",
					full, parent->name);
		fresh = f->state == FILE_NOT_RUN;
		if (!run(vm, f, err) ||
		    (parent && (fresh || !f->file) && !bind(vm, parent, one, f, err)))
			return false;
		parent = f;
		at += len + (at[len] == '.');
	}
	*out = parent;
	return true;
}

/* "..a" in the package "x.y" is "x.a". */
static bool absolute_name(struct vm *vm, const struct vm_file *home, const char *name,
			  char out[MODULE_NAME_BYTES], struct err *err)
{
	size_t level = strspn(name, "."), len;

	if (!home || home->package[0] == '\0')
		return vm_raise(vm, CLASS_IMPORT_ERROR, err,
				"attempted relative import with no known parent package");
	len = strlen(home->package);
	for (size_t i = 1; i < level; i++) {
		while (len > 0 && home->package[len] != '.')
			len--;
		if (len == 0)
			return vm_raise(vm, CLASS_IMPORT_ERROR, err,
					"attempted relative import beyond top-level package");
		if (i + 1 < level)
			len--;
	}
	snprintf(out, MODULE_NAME_BYTES, "%.*s%s%s", (int)len, home->package,
		 name[level] ? "." : "", name + level);
	return true;
}

static bool import_file(struct vm *vm, const struct vm_file *home, const char *name,
			struct value *out, bool *found, struct err *err)
{
	char full[MODULE_NAME_BYTES];
	struct vm_file *f;

	*found = false;
	if (!vm->files || !home) /* our prelude imports none of them */
		return true;
	if (name[0] == '.') {
		if (!absolute_name(vm, home, name, full, err))
			return false;
		name = full;
	}
	if (!import_name(vm, name, &f, err))
		return false;
	*found = f != NULL;
	if (!f)
		return name != full ||
		       vm_raise(vm, CLASS_MODULE_NOT_FOUND, err, "No module named '%s'", full);
	*out = value_ref(f->module);
	return true;
}

bool files_run_entry(struct vm *vm, struct err *err)
{
	struct vm_file *f = vm->files->at.at[0], *package;

	if (f->package[0] && strcmp(f->package, f->name) != 0 &&
	    !import_name(vm, f->package, &package, err))
		return false;
	return run(vm, f, err);
}

/* ---- names of a module. ---- */

static bool is_from_import(const struct frame *f)
{
	return f && f->inst > f->code->insts && f->inst->op == CODE_LOAD_ATTR &&
	       f->inst[-1].op == CODE_COPY;
}

/* from package import name: a module in it that was not imported yet. */
static bool import_below(struct vm *vm, const struct vm_file *f, const char *name,
			 struct value *out, bool *found, struct err *err)
{
	char full[MODULE_NAME_BYTES];
	struct vm_file *below;

	*found = false;
	if (!f->folder)
		return true;
	snprintf(full, sizeof(full), "%s.%s", f->name, name);
	if (!find(vm, f, full, name, &below, err))
		return false;
	if (!below)
		return true;
	*found = true;
	if (!import_name(vm, full, &below, err))
		return false;
	*out = value_ref(below->module);
	return true;
}

/* def __getattr__(name), of the module. */
static bool ask_getattr(struct vm *vm, const struct vm_file *f, const char *name, struct value *out,
			bool *found, struct err *err)
{
	int slot = vm_global_find(vm, f->owner, "__getattr__");
	struct value text;
	bool ok;

	*found = slot >= 0 && vm->globals[slot].value.kind == VALUE_FUNCTION &&
		 strncmp(name, "__", 2) != 0;
	if (!*found)
		return true;
	if (!vm_keep(vm, value_str(name, strlen(name)), &text, err))
		return false;
	ok = vm_invoke(vm, vm->globals[slot].value, &(struct arguments){ &text, 1, NULL }, out,
		       err);
	value_unref(text);
	return ok;
}

static bool no_name(struct vm *vm, const struct vm_file *f, const char *name, struct err *err)
{
	bool partly = f->state == FILE_RUNNING;

	if (is_from_import(vm->frame))
		return vm_raise(vm, CLASS_IMPORT_ERROR, err,
				"cannot import name '%s' from %s'%s'%s (%s%s)", name,
				partly ? "partially initialized module " : "", f->name,
				partly ? " (most likely due to a circular import)" : "",
				f->file ? "/" : "unknown location", f->file ? f->file->path : "");
	return vm_raise(vm, CLASS_ATTRIBUTE_ERROR, err, "%smodule '%s' has no attribute '%s'%s",
			partly ? "partially initialized " : "", f->name, name,
			partly ? " (most likely due to a circular import)" : "");
}

bool files_attribute(struct vm *vm, struct attr_site *site, struct value module, const char *name,
		     struct value *out, struct err *err)
{
	struct vm_file *f = module.module->file;
	bool known_here = site && site->kind == VALUE_MODULE &&
			  site->module.object == module.object;
	int slot = known_here ? site->builtin : vm_global_find(vm, f->owner, name);
	bool found;

	if (slot >= 0) {
		if (site && !known_here) {
			store(&site->module, value_ref(module));
			store(&site->value, (struct value){ .kind = VALUE_UNSET });
			site->epoch = 0; /* the value is asked for each time */
			site->kind = VALUE_MODULE;
			site->builtin = slot;
		}
		if (!global_load(vm, slot, out, err))
			return false;
		if (out->kind != VALUE_UNSET)
			return true;
	}
	if (is_from_import(vm->frame)) {
		if (!import_below(vm, f, name, out, &found, err))
			return false;
		if (found)
			return true;
	}
	if (!ask_getattr(vm, f, name, out, &found, err))
		return false;
	return found || no_name(vm, f, name, err);
}

bool files_store(struct vm *vm, struct value module, const char *name, struct value v,
		 struct err *err)
{
	struct vm_file *f = module.module->file;
	int slot = vm_global_find(vm, f->owner, name);
	const char *kept;

	if (slot < 0) {
		kept = arena_strdup(&vm->arena, name);
		slot = kept ? vm_global_slot(vm, f->owner, kept) : -1;
	}
	if (slot < 0)
		return vm_out_of_memory(vm, err);
	if (v.kind == VALUE_UNSET && vm->globals[slot].value.kind == VALUE_UNSET)
		return no_name(vm, f, name, err);
	return global_store(vm, slot, v, err);
}

static bool take(struct vm *vm, const struct vm_file *home, const struct vm_file *from,
		 const char *name, struct err *err)
{
	struct value v;
	int slot;

	if (!files_attribute(vm, NULL, from->module, name, &v, err))
		return false;
	slot = vm_global_slot(vm, home->owner, name);
	if (slot < 0) {
		value_unref(v);
		return vm_out_of_memory(vm, err);
	}
	store(&vm->globals[slot].value, v);
	return true;
}

static bool take_listed(struct vm *vm, const struct vm_file *home, const struct vm_file *from,
			const struct list *all, struct err *err)
{
	for (int i = 0; i < all->len; i++) {
		bool found;
		struct value v;
		const char *kept;

		if (all->at[i].kind != VALUE_STR)
			return vm_raise(vm, CLASS_TYPE_ERROR, err,
					"Item in %s.__all__ must be str, not %s", from->name,
					value_type_name(all->at[i]));
		kept = arena_strdup(&vm->arena, all->at[i].str->text);
		if (!kept)
			return vm_out_of_memory(vm, err);
		if (vm_global_find(vm, from->owner, kept) <
		    0) { /* a module of the package may be listed */
			if (!import_below(vm, from, kept, &v, &found, err))
				return false;
			if (found)
				value_unref(v);
		}
		if (!take(vm, home, from, kept, err))
			return false;
	}
	return true;
}

static bool import_star(struct vm *vm, const struct vm_file *home, struct value module,
			struct err *err)
{
	const struct vm_file *from = module.module->file;
	int all = vm_global_find(vm, from->owner, "__all__");

	if (all >= 0 && (vm->globals[all].value.kind == VALUE_LIST ||
			 vm->globals[all].value.kind == VALUE_TUPLE))
		return take_listed(vm, home, from, vm->globals[all].value.list, err);
	for (int i = 0, n = vm->n_globals; i < n; i++)
		if (vm->globals[i].owner == from->owner && vm->globals[i].name[0] != '_' &&
		    vm->globals[i].value.kind != VALUE_UNSET &&
		    !take(vm, home, from, vm->globals[i].name, err))
			return false;
	return true;
}

/* ---- the instructions. ---- */

/* torch.backends.cudnn, torch._dynamo.config: modules of switches are objects of the prelude,
 * so that they can be set. */
static bool import_switches(struct vm *vm, const char *name, bool *found, struct value *out,
			    struct err *err)
{
	const char *dot = strrchr(name, '.');
	char owner[MODULE_NAME_BYTES];

	*found = false;
	if (!dot || dot - name >= MODULE_NAME_BYTES || vm_has_module(vm, name))
		return true;
	snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
	if (!prelude_defines(module_real(owner), dot + 1))
		return true;
	if (!prelude_attribute(vm, module_real(owner), dot + 1, out, found, err))
		return false;
	if (*found && out->kind != VALUE_INSTANCE) {
		value_unref(*out);
		*found = false;
	}
	return true;
}

static bool import_module(struct vm *vm, struct frame *f, int arg, struct err *err)
{
	const char *name = f->code->names[arg];
	struct value m;
	bool found;

	if (!import_file(vm, f->unit->home, name, &m, &found, err) ||
	    (!found && !import_switches(vm, name, &found, &m, err)))
		return false;
	if (found) {
		*f->top++ = m;
		return true;
	}
	/* the program means to meet the failed import */
	if (frame_is_tried(f) &&
	    absent_module_is(vm, (struct value){ .kind = VALUE_MODULE,
						 .module = &(struct module){ .name = name } }))
		return (!vm->host->may_miss ||
			vm->host->may_miss(vm_host_here(vm)->self, name, err)) &&
		       vm_raise(vm, CLASS_MODULE_NOT_FOUND, err, "No module named '%.*s'",
				(int)strcspn(name, "."), name);
	if (!vm_module(vm, name, &m, err))
		return false;
	*f->top++ = value_ref(m);
	return true;
}

/* Whether `from m import *` gives the name, m a module that is no file of the program. */
static bool offers(struct vm *vm, const struct module *m, const char *name)
{
	struct vm_host *host = vm_host_here(vm);
	struct value v = { .kind = VALUE_UNSET };
	struct err ignored = { 0 };
	bool found;

	if (name[0] == '_')
		return false;
	if (module_is_native(m->name))
		return native_attribute(NULL, m->name, name, &v, &ignored);
	if (!vm_has_module(vm, m->name))
		return true;
	module_type(NULL, m->name, name, NULL, &found, NULL);
	found = found || prelude_defines(module_real(m->name), name) ||
		host->module_attr(host->self, m, name, &v, &ignored);
	value_unref(v);
	return found;
}

/* A module, or what stands for any type: it takes no name that means something. */
static bool is_vague(struct value v)
{
	return v.kind == VALUE_MODULE || (v.kind == VALUE_NATIVE && native_is_typing(v.native));
}

static bool take_offered(struct vm *vm, const void *owner, struct value module, const char *name,
			 struct err *err)
{
	int slot = vm_global_slot(vm, owner, name);
	struct value v;

	if (slot < 0)
		return vm_out_of_memory(vm, err);
	if (!op_attribute(vm, NULL, module, name, &v, err))
		return false;
	if (is_vague(v) && (vm->globals[slot].value.kind != VALUE_UNSET || builtin_is_name(name))) {
		value_unref(v);
		return true;
	}
	store(&vm->globals[slot].value, v);
	return true;
}

/* The names in the text of an annotation. */
static bool take_words(struct vm *vm, const void *owner, struct value module, const char *text,
		       struct err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	const char *name;

	while (*(text += strcspn(text, letters))) {
		size_t len = strspn(text, letters);

		name = arena_strndup(&vm->arena, text, len);
		if (!name)
			return vm_out_of_memory(vm, err);
		if (offers(vm, module.module, name) && !take_offered(vm, owner, module, name, err))
			return false;
		text += len;
	}
	return true;
}

/* The text of an annotation, where the instruction loads one that a class keeps; NULL. */
static const char *annotation_at(const struct code *code, int at)
{
	const struct lang_inst *inst = &code->insts[at];

	return code->has_namespace && at + 1 < code->n_insts && inst->op == CODE_LOAD_CONST &&
		       inst[1].op == CODE_LOAD_NAME &&
		       strcmp(code->names[inst[1].arg], "__annotations__") == 0 &&
		       code->consts[inst->arg].kind == CONST_STR
		   ? code->consts[inst->arg].str
		   : NULL;
}

/* Of such a module: the names that the code, or what is nested in it, reads. */
static bool take_read(struct vm *vm, const void *owner, struct value module,
		      const struct code *code, struct err *err)
{
	if (code->annotations && !take_words(vm, owner, module, code->annotations, err))
		return false;
	for (int i = 0; i < code->n_insts; i++) {
		const struct lang_inst *inst = &code->insts[i];
		const char *annotation = annotation_at(code, i);

		if (annotation && !take_words(vm, owner, module, annotation, err))
			return false;
		if ((inst->op == CODE_LOAD_GLOBAL || inst->op == CODE_LOAD_NAME) &&
		    offers(vm, module.module, code->names[inst->arg]) &&
		    !take_offered(vm, owner, module, code->names[inst->arg], err))
			return false;
	}
	for (int i = 0; i < code->n_nested; i++)
		if (!take_read(vm, owner, module, code->nested[i], err))
			return false;
	return true;
}

static bool import_all(struct vm *vm, struct frame *f, struct err *err)
{
	struct value m = f->top[-1];

	if (!(m.module->file ? import_star(vm, f->unit->home, m, err)
			     : take_read(vm, f->unit->owner, m, f->code, err)))
		return false;
	value_unref(*--f->top);
	return true;
}

bool inst_import(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err)
{
	return inst->op == CODE_IMPORT ? import_module(vm, f, inst->arg, err)
				       : import_all(vm, f, err);
}
