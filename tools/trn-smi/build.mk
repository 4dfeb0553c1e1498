# SPDX-License-Identifier: MIT

smi_sources := $(addprefix tools/trn-smi/,model.c render_json.c render_text.c)

$(eval $(call program,trn-smi,tools/trn-smi/main.c $(smi_sources),libnl-genl-3.0 libnl-3.0 jansson,))
