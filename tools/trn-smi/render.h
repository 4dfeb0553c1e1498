/* SPDX-License-Identifier: MIT */
/* Output formats.  Each writes one complete document, whatever the model has. */
#ifndef TRN_SMI_RENDER_H
#define TRN_SMI_RENDER_H

#include <stdio.h>

#include "model.h"

/* What the key schema_version says.  Raised when a key changes its meaning or goes. */
#define SMI_SCHEMA_VERSION 1

struct smi_renderer {
	/* @error: why the list is not complete, or NULL.  0 or negative errno. */
	int (*list)(FILE *file, const struct smi_model *model, const char *error);
	int (*version)(FILE *file, const char *version);
};

extern const struct smi_renderer smi_text;
extern const struct smi_renderer smi_json;

#endif /* TRN_SMI_RENDER_H */
