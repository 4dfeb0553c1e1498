/* SPDX-License-Identifier: MIT */
/* Reading and writing the JSON of a .neff file, with errors that name the key. */
#ifndef TRN_NEFF_JSON_H
#define TRN_NEFF_JSON_H

#include <jansson.h>

#include "neff.h"

/* An object of a document. */
struct neff_object {
	const struct neff_place *place;
	const char *what; /* begins texts: "var", or a variable's name; "" = the document */
	json_t *json;
};

/* The document, an object; for json_decref(). */
int neff_json_parse(const struct neff_place *place, const struct neff_member *member,
		    json_t **json);

/* Refuses keys that are not in @known, which ends with NULL. */
int neff_json_check_keys(const struct neff_object *object, const char *const *known);

/* Values of keys that must be there.  A text is as JSON has it, valid while the object is. */
int neff_json_integer(const struct neff_object *object, const char *key, uint64_t least,
		      uint64_t most, uint64_t *value);
int neff_json_text(const struct neff_object *object, const char *key, const char **value);
int neff_json_object(const struct neff_object *object, const char *key, json_t **value);
int neff_json_array(const struct neff_object *object, const char *key, json_t **value);

/* Checks the key "isa". */
int neff_json_isa(const struct neff_object *object);

/* The bytes of a document, whose reference is taken; NULL is lack of memory. */
int neff_json_write(const struct neff_place *place, json_t *json, struct neff_member *member);

#endif /* TRN_NEFF_JSON_H */
