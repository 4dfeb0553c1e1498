# SPDX-License-Identifier: MIT

$(eval $(call unit_test,smi-render,tests/unit/smi/render.c $(smi_sources),libnl-genl-3.0 libnl-3.0 jansson,))
$(eval $(call unit_test,smi-command,tests/unit/smi/command.c,jansson,))
$(O)/tests/unit/smi-command: $(O)/bin/trn-smi
$(eval $(call unit_test,netlink-spec,tests/unit/smi/spec.c,,))
one_thread += smi-render smi-command netlink-spec
