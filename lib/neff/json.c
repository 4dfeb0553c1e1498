/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define DEPTH_MAX 8

/* jansson itself goes to 2048, by recursion.  What is no JSON at all is for jansson to find. */
static bool is_too_deep(const char *text, size_t size)
{
	bool in_string = false;
	unsigned int depth = 0;
	size_t i;

	for (i = 0; i < size; i++) {
		if (in_string && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			in_string = !in_string;
		else if (in_string)
			continue;
		else if (text[i] == '{' || text[i] == '[')
			depth++;
		else if ((text[i] == '}' || text[i] == ']') && depth)
			depth--;
		if (depth > DEPTH_MAX)
			return true;
	}
	return false;
}

int neff_json_parse(const struct neff_place *place, const struct neff_member *member, json_t **json)
{
	json_error_t error;

	if (member->size > NEFF_JSON_SIZE_MAX)
		return neff_fail(place, NEFF_LIMIT,
				 "the member has %llu bytes, at most %d are possible",
				 (unsigned long long)member->size, NEFF_JSON_SIZE_MAX);
	if (is_too_deep(member->data, member->size))
		return neff_fail(place, NEFF_JSON,
				 "objects and arrays are nested more than %d deep", DEPTH_MAX);
	*json = json_loadb(member->data, member->size, JSON_REJECT_DUPLICATES, &error);
	if (!*json && json_error_code(&error) == json_error_out_of_memory)
		return neff_fail_memory(place);
	if (!*json)
		return neff_fail(place, NEFF_JSON, "line %d, column %d: %s", error.line,
				 error.column, error.text);
	if (json_is_object(*json))
		return 0;
	json_decref(*json);
	return neff_fail(place, NEFF_FIELD, "the document must be an object");
}

static const char *separator(const struct neff_object *object)
{
	return *object->what ? ": " : "";
}

int neff_json_check_keys(const struct neff_object *object, const char *const *known)
{
	const char *key;
	json_t *value;

	json_object_foreach(object->json, key, value)
	{
		const char *const *name = known;

		while (*name && strcmp(*name, key))
			name++;
		if (!*name)
			return neff_fail(
				object->place, NEFF_FIELD,
				"%.64s%sthere is no key \"%.64s\"; the file may need a newer "
				"libtrn",
				object->what, separator(object), key);
	}
	return 0;
}

static int get(const struct neff_object *object, const char *key, json_t **value)
{
	*value = json_object_get(object->json, key);
	if (*value)
		return 0;
	return neff_fail(object->place, NEFF_MISSING, "%.64s%skey \"%s\" is missing", object->what,
			 separator(object), key);
}

static int fail_type(const struct neff_object *object, const char *key, const char *wanted)
{
	return neff_fail(object->place, NEFF_FIELD, "%.64s%s\"%s\" must be %s", object->what,
			 separator(object), key, wanted);
}

int neff_json_integer(const struct neff_object *object, const char *key, uint64_t least,
		      uint64_t most, uint64_t *value)
{
	json_t *json;
	int error = get(object, key, &json);

	if (error)
		return error;
	if (!json_is_integer(json))
		return fail_type(object, key, "an integer");
	if (json_integer_value(json) < 0 || (uint64_t)json_integer_value(json) < least ||
	    (uint64_t)json_integer_value(json) > most)
		return neff_fail(object->place, NEFF_FIELD,
				 "%.64s%s\"%s\" is %lld, must be %llu to %llu", object->what,
				 separator(object), key, (long long)json_integer_value(json),
				 (unsigned long long)least, (unsigned long long)most);
	*value = json_integer_value(json);
	return 0;
}

int neff_json_text(const struct neff_object *object, const char *key, const char **value)
{
	json_t *json;
	int error = get(object, key, &json);

	if (error)
		return error;
	if (!json_is_string(json))
		return fail_type(object, key, "a string");
	*value = json_string_value(json);
	return 0;
}

int neff_json_object(const struct neff_object *object, const char *key, json_t **value)
{
	int error = get(object, key, value);

	if (!error && !json_is_object(*value))
		error = fail_type(object, key, "an object");
	return error;
}

int neff_json_array(const struct neff_object *object, const char *key, json_t **value)
{
	int error = get(object, key, value);

	if (!error && !json_is_array(*value))
		error = fail_type(object, key, "an array");
	return error;
}

int neff_json_isa(const struct neff_object *object)
{
	const char *isa;
	int error = neff_json_text(object, "isa", &isa);

	if (!error && strcmp(isa, NEFF_ISA))
		error = neff_fail(object->place, NEFF_ISA_NAME,
				  "the instruction set is \"%.64s\", this library has %s: compile "
				  "the program for it",
				  isa, NEFF_ISA);
	return error;
}

int neff_json_write(const struct neff_place *place, json_t *json, struct neff_member *member)
{
	char *text = json ? json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
	size_t length;
	char *lines;

	json_decref(json);
	if (!text)
		return neff_fail_memory(place);
	length = strlen(text);
	lines = realloc(text, length + 2);
	if (!lines) {
		free(text);
		return neff_fail_memory(place);
	}
	strcpy(lines + length, "\n");
	member->data = lines;
	member->size = length + 1;
	return 0;
}
