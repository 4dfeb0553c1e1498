/* SPDX-License-Identifier: MIT */
/* A table for people: may change; programs use JSON. */
#include <errno.h>
#include <string.h>

#include "render.h"

#define CELL_MAX 64

static void format_bytes(uint64_t bytes, char *cell, size_t size)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		value /= 1024;
		unit++;
	}
	/* Whole numbers without a fraction. */
	if (value == (double)(uint64_t)value)
		snprintf(cell, size, "%.0f %s", value, units[unit]);
	else
		snprintf(cell, size, "%.1f %s", value, units[unit]);
}

static void format_cell(const struct smi_device *device, size_t field, char cell[CELL_MAX])
{
	const void *value = smi_value(device, field);

	if (!smi_present(device, field)) {
		strcpy(cell, "-");
		return;
	}
	switch (smi_fields[field].kind) {
	case SMI_STRING:
		snprintf(cell, CELL_MAX, "%s", (const char *)value);
		break;
	case SMI_NODE:
		snprintf(cell, CELL_MAX, "/dev/accel/%.48s", (const char *)value);
		break;
	case SMI_U32:
		snprintf(cell, CELL_MAX, "%u", *(const uint32_t *)value);
		break;
	case SMI_S32:
		snprintf(cell, CELL_MAX, "%d", *(const int32_t *)value);
		break;
	case SMI_BYTES:
		format_bytes(*(const uint64_t *)value, cell, CELL_MAX);
		break;
	case SMI_UUID:
		smi_format_uuid(value, cell);
		break;
	case SMI_STATE:
		snprintf(cell, CELL_MAX, "%s", smi_state_name(*(const uint32_t *)value));
		break;
	}
}

static size_t column_width(const struct smi_model *model, size_t field)
{
	size_t i, width = strlen(smi_fields[field].heading);

	for (i = 0; i < model->count; i++) {
		char cell[CELL_MAX];

		format_cell(&model->device[i], field, cell);
		if (strlen(cell) > width)
			width = strlen(cell);
	}
	return width;
}

/* Prints a row: of headings if @device is NULL. */
static void print_row(FILE *file, const struct smi_model *model, const struct smi_device *device)
{
	const char *gap = "";
	size_t field;

	for (field = 0; field < smi_fields_count; field++) {
		char cell[CELL_MAX];

		if (!smi_fields[field].heading)
			continue;
		if (device)
			format_cell(device, field, cell);
		else
			strcpy(cell, smi_fields[field].heading);
		/* No blanks at the end of a line. */
		if (field == smi_fields_count - 1)
			fprintf(file, "%s%s", gap, cell);
		else
			fprintf(file, "%s%-*s", gap, (int)column_width(model, field), cell);
		gap = "  ";
	}
	fputc('\n', file);
}

static int text_list(FILE *file, const struct smi_model *model, const char *error)
{
	size_t i;

	(void)error; /* it is on stderr */
	print_row(file, model, NULL);
	for (i = 0; i < model->count; i++)
		print_row(file, model, &model->device[i]);
	return ferror(file) ? -EIO : 0;
}

static int text_version(FILE *file, const char *version)
{
	fprintf(file, "trn-smi %s\n", version);
	return ferror(file) ? -EIO : 0;
}

const struct smi_renderer smi_text = {
	.list = text_list,
	.version = text_version,
};
