/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "json.h"

int neff_description_read(const struct neff_place *place, const struct neff_member *member,
			  uint32_t engine, uint32_t *instructions)
{
	static const char *const keys[] = { "engine", "instructions", "isa", NULL };
	struct neff_object object = { place, "", NULL };
	const char *name;
	uint64_t count;
	int error;

	error = neff_json_parse(place, member, &object.json);
	if (error)
		return error;
	error = neff_json_check_keys(&object, keys);
	if (!error)
		error = neff_json_isa(&object);
	if (!error)
		error = neff_json_text(&object, "engine", &name);
	if (!error && strcmp(name, neff_engine_names[engine]))
		error = neff_fail(place, NEFF_FIELD, "\"engine\" is \"%.64s\", must be \"%s\"",
				  name, neff_engine_names[engine]);
	if (!error)
		error = neff_json_integer(&object, "instructions", 1, TRN_NEFF_INSTRUCTIONS_MAX,
					  &count);
	if (!error)
		*instructions = count;
	json_decref(object.json);
	return error;
}

int neff_description_write(const struct neff_place *place, uint32_t engine, uint32_t instructions,
			   struct neff_member *member)
{
	return neff_json_write(place,
			       json_pack("{s:s, s:I, s:s}", "engine", neff_engine_names[engine],
					 "instructions", (json_int_t)instructions, "isa", NEFF_ISA),
			       member);
}
