/* fusion/vm/placement.c -- keywords that say where and how a tensor lies. */
#include "fusion/vm/placement.h"

#include <stdlib.h>
#include <string.h>

static const char *const devices[] = { "cpu", "cuda", "mps", "xpu" };

/* "cuda", "cuda:1" */
static bool names_device(const char *text, const char *type)
{
	size_t len = strlen(type);
	const char *index = text + len + 1;

	if (strncmp(text, type, len) != 0)
		return false;
	return text[len] == '\0' ||
	       (text[len] == ':' && *index && strspn(index, "0123456789") == strlen(index));
}

bool placement_device(const char *text, struct value *index)
{
	const char *colon = strchr(text, ':');

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (names_device(text, devices[i])) {
			*index = colon ? value_int(strtoll(colon + 1, NULL, 10)) : value_none();
			return true;
		}
	return false;
}

static bool device_fits(const char *function, struct value v, struct err *err)
{
	struct value index;

	if (v.kind == VALUE_NONE || (v.kind == VALUE_INT && v.i >= 0))
		return true;
	if (v.kind != VALUE_STR)
		return err_set(err, ERR_TYPE, "%s: device must be a device such as 'cpu', not %s",
			       function, value_type_name(v));
	if (placement_device(v.str->text, &index))
		return true;
	if (strncmp(v.str->text, "meta", 4) == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: device='meta' makes tensors without elements, which are not in "
			       "the language; leave device out",
			       function);
	return err_set(err, ERR_SHAPE,
		       "%s: Expected one of cpu, cuda, mps, xpu device type at start of device "
		       "string: %.40s",
		       function, v.str->text);
}

static bool is_text(struct value v, const char *text)
{
	return v.kind == VALUE_STR && strcmp(v.str->text, text) == 0;
}

static bool layout_fits(const char *function, struct value v, struct err *err)
{
	if (v.kind == VALUE_NONE || is_text(v, "torch.strided"))
		return true;
	return err_set(err, ERR_UNSUPPORTED,
		       "%s: layout is torch.strided here, and no other: leave it out", function);
}

static bool format_fits(const char *function, struct value v, struct err *err)
{
	static const char *const formats[] = { "torch.contiguous_format", "torch.preserve_format",
					       "torch.channels_last", "torch.channels_last_3d" };

	if (v.kind == VALUE_NONE)
		return true;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (is_text(v, formats[i]))
			return true;
	return err_set(err, ERR_TYPE, "%s: memory_format must be a memory format, not %s", function,
		       value_type_name(v));
}

bool placement_is(const char *key)
{
	static const char *const keys[] = { "device", "layout", "pin_memory", "non_blocking",
					    "memory_format" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

bool placement_fits(const char *function, const char *key, struct value v, struct err *err)
{
	if (strcmp(key, "device") == 0)
		return device_fits(function, v, err);
	if (strcmp(key, "layout") == 0)
		return layout_fits(function, v, err);
	if (strcmp(key, "memory_format") == 0)
		return format_fits(function, v, err);
	if (v.kind == VALUE_BOOL || v.kind == VALUE_NONE)
		return true;
	return err_set(err, ERR_TYPE, "%s: %s must be True or False, not %s", function, key,
		       value_type_name(v));
}
