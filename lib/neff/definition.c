/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define CONSTANT_NAME "%03u.npy"

/* Looks a name up in one of the lists of types.c. */
static int find(const struct neff_object *object, const char *key, enum neff_error unknown,
		const char *(*name_of)(unsigned int number), uint32_t *number)
{
	const char *text, *name;
	uint32_t i;
	int error = neff_json_text(object, key, &text);

	if (error)
		return error;
	for (i = 0; (name = name_of(i)); i++) {
		if (!strcmp(name, text)) {
			*number = i;
			return 0;
		}
	}
	return neff_fail(object->place, unknown,
			 "%.64s: there is no %s \"%.64s\"; the file may need a newer libtrn",
			 object->what, key, text);
}

static const char *kind_name(unsigned int number)
{
	return trn_neff_kind_name(number);
}

static const char *direction_name(unsigned int number)
{
	return neff_direction_name(number);
}

static int read_shape(const struct neff_object *object, struct trn_neff_variable *variable)
{
	json_t *shape, *dimension;
	size_t i;
	int error;

	error = neff_json_array(object, "shape", &shape);
	if (error)
		return error;
	if (json_array_size(shape) > TRN_NEFF_DIMENSIONS_MAX)
		return neff_fail(object->place, NEFF_LIMIT,
				 "%.64s: \"shape\" has %zu dimensions, at most %d are possible",
				 object->what, json_array_size(shape), TRN_NEFF_DIMENSIONS_MAX);
	json_array_foreach(shape, i, dimension)
	{
		if (!json_is_integer(dimension) || json_integer_value(dimension) < 0)
			return neff_fail(object->place, NEFF_FIELD,
					 "%.64s: \"shape\": dimension %zu must be an integer, 1 or "
					 "more",
					 object->what, i);
		variable->shape[i] = json_integer_value(dimension);
	}
	variable->dimensions = json_array_size(shape);
	return 0;
}

static int check_file_name(const struct neff_object *object, uint32_t binding)
{
	char wanted[16];
	const char *name;
	int error;

	error = neff_json_text(object, "file_name", &name);
	if (error)
		return error;
	snprintf(wanted, sizeof(wanted), CONSTANT_NAME, binding);
	if (strcmp(name, wanted))
		return neff_fail(
			object->place, NEFF_FIELD,
			"%.64s: \"file_name\" is \"%.64s\", must be \"%s\" as the binding is "
			"%u",
			object->what, name, wanted, binding);
	return 0;
}

static int read_variable(const struct neff_object *object, struct trn_neff_core *core)
{
	static const char *const keys[] = { "alignment", "binding", "dtype",  "file_name", "shape",
					    "size",	 "type",    "var_id", NULL };
	struct trn_neff_variable *variables = (struct trn_neff_variable *)core->variables;
	struct trn_neff_variable variable = { 0 };
	uint64_t id = 0, binding = 0;
	uint32_t kind = 0;
	int error;

	error = neff_json_check_keys(object, keys);
	if (!error)
		error = neff_json_integer(object, "binding", 0, core->num_variables - 1, &binding);
	if (!error && variables[binding].name)
		error = neff_fail(object->place, NEFF_BINDING,
				  "%.64s: \"binding\" %u is that of %.64s too", object->what,
				  (uint32_t)binding, variables[binding].name);
	if (!error)
		error = find(object, "type", NEFF_KIND, kind_name, &kind);
	if (!error && kind == TRN_NEFF_FILE)
		error = check_file_name(object, binding);
	else if (!error && json_object_get(object->json, "file_name"))
		error = neff_fail(object->place, NEFF_FIELD,
				  "%.64s: \"file_name\" is for variables of type \"file\" alone",
				  object->what);
	if (!error)
		error = find(object, "dtype", NEFF_DTYPE, trn_neff_dtype_name, &variable.dtype);
	if (!error)
		error = read_shape(object, &variable);
	if (!error)
		error = neff_json_integer(object, "var_id", 0, UINT32_MAX, &id);
	if (!error)
		error = neff_json_integer(object, "size", 1, TRN_NEFF_SIZE_MAX, &variable.size);
	if (!error)
		error = neff_json_integer(object, "alignment", 1, TRN_NEFF_ALIGNMENT_MAX,
					  &variable.alignment);
	if (error)
		return error;
	variable.id = id;
	variable.kind = kind;
	variable.name = strdup(object->what);
	if (!variable.name)
		return neff_fail_memory(object->place);
	variables[binding] = variable;
	return 0;
}

static int read_queue(const struct neff_object *object, struct trn_neff_core *core)
{
	static const char *const keys[] = { "ring", "type", NULL };
	struct trn_neff_queue *queue = (struct trn_neff_queue *)core->queues + core->num_queues;
	uint32_t direction = 0;
	uint64_t ring = 0;
	int error;

	error = neff_json_check_keys(object, keys);
	if (!error)
		error = neff_json_integer(object, "ring", 0, TRN_NEFF_QUEUES_MAX - 1, &ring);
	if (!error)
		error = find(object, "type", NEFF_KIND, direction_name, &direction);
	if (error)
		return error;
	queue->name = strdup(object->what);
	if (!queue->name)
		return neff_fail_memory(object->place);
	queue->ring = ring;
	queue->direction = direction;
	core->num_queues++;
	return 0;
}

/* Calls @read for each of the objects that are the values of @json's keys. */
static int read_objects(const struct neff_object *parent, json_t *json, struct trn_neff_core *core,
			int (*read)(const struct neff_object *object, struct trn_neff_core *core))
{
	const char *key;
	json_t *value;
	int error;

	json_object_foreach(json, key, value)
	{
		struct neff_object object = { parent->place, key, value };

		if (!json_is_object(value))
			return neff_fail(parent->place, NEFF_FIELD, "%.64s must be an object", key);
		error = read(&object, core);
		if (error)
			return error;
	}
	return 0;
}

/* An array for the objects of a key, of which there may be @most. */
static int allocate(const struct neff_object *document, const char *key, size_t most,
		    size_t element_size, json_t **json, void *array)
{
	int error = neff_json_object(document, key, json);
	size_t count;

	if (error)
		return error;
	count = json_object_size(*json);
	if (count > most)
		return neff_fail(document->place, NEFF_LIMIT,
				 "\"%s\" has %zu keys, at most %zu are possible", key, count, most);
	*(void **)array = calloc(count + 1, element_size);
	return *(void **)array ? 0 : neff_fail_memory(document->place);
}

static int compare_rings(const void *a, const void *b)
{
	const struct trn_neff_queue *first = a, *second = b;

	return (first->ring > second->ring) - (first->ring < second->ring);
}

static int read_document(const struct neff_object *document, struct trn_neff_core *core)
{
	static const char *const keys[] = { "dma_queue", "isa", "var", NULL };
	json_t *json;
	int error;

	/* First of all, so that files for another instruction set are told of that. */
	error = neff_json_isa(document);
	if (!error)
		error = neff_json_check_keys(document, keys);
	if (!error)
		error = allocate(document, "var", TRN_NEFF_VARIABLES_MAX, sizeof(*core->variables),
				 &json, &core->variables);
	if (error)
		return error;
	core->num_variables = json_object_size(json);
	error = read_objects(document, json, core, read_variable);
	if (!error)
		error = allocate(document, "dma_queue", TRN_NEFF_QUEUES_MAX, sizeof(*core->queues),
				 &json, &core->queues);
	if (!error)
		error = read_objects(document, json, core, read_queue);
	if (error)
		return error;
	qsort((void *)core->queues, core->num_queues, sizeof(*core->queues), compare_rings);
	return neff_core_check(document->place, core);
}

int neff_definition_read(const struct neff_place *place, const struct neff_member *member,
			 struct trn_neff_core *core)
{
	struct neff_object document = { place, "", NULL };
	int error;

	error = neff_json_parse(place, member, &document.json);
	if (error)
		return error;
	error = read_document(&document, core);
	json_decref(document.json);
	return error;
}

void neff_definition_free(struct trn_neff_core *core)
{
	uint32_t i;

	for (i = 0; i < core->num_variables; i++)
		free((void *)core->variables[i].name);
	for (i = 0; i < core->num_queues; i++)
		free((void *)core->queues[i].name);
	free((void *)core->variables);
	free((void *)core->queues);
}

static json_t *variable_object(const struct trn_neff_variable *variable, uint32_t binding)
{
	json_t *shape = json_array(), *object;
	char file_name[16];
	uint32_t i;

	for (i = 0; i < variable->dimensions; i++)
		if (json_array_append_new(shape, json_integer(variable->shape[i])))
			goto free;
	object = json_pack("{s:I, s:I, s:s, s:O, s:I, s:s, s:I}", "alignment",
			   (json_int_t)variable->alignment, "binding", (json_int_t)binding, "dtype",
			   trn_neff_dtype_name(variable->dtype), "shape", shape, "size",
			   (json_int_t)variable->size, "type", trn_neff_kind_name(variable->kind),
			   "var_id", (json_int_t)variable->id);
	json_decref(shape);
	if (variable->kind != TRN_NEFF_FILE)
		return object;
	snprintf(file_name, sizeof(file_name), CONSTANT_NAME, binding);
	shape = NULL;
	if (!json_object_set_new(object, "file_name", json_string(file_name)))
		return object;
	json_decref(object);
free:
	json_decref(shape);
	return NULL;
}

int neff_definition_write(const struct neff_place *place, const struct trn_neff_core *core,
			  struct neff_member *member)
{
	json_t *variables = json_object(), *queues = json_object(), *document;
	uint32_t i;

	for (i = 0; i < core->num_variables; i++)
		if (json_object_set_new(variables, core->variables[i].name,
					variable_object(&core->variables[i], i)))
			goto no_memory;
	for (i = 0; i < core->num_queues; i++)
		if (json_object_set_new(queues, core->queues[i].name,
					json_pack("{s:I, s:s}", "ring",
						  (json_int_t)core->queues[i].ring, "type",
						  neff_direction_name(core->queues[i].direction))))
			goto no_memory;
	/* Takes the references, also when it fails. */
	document = json_pack("{s:o, s:s, s:o}", "dma_queue", queues, "isa", NEFF_ISA, "var",
			     variables);
	return neff_json_write(place, document, member);
no_memory:
	json_decref(variables);
	json_decref(queues);
	return neff_fail_memory(place);
}
