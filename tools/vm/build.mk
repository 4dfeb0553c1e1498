# SPDX-License-Identifier: MIT

$(eval $(call program,trn-vmctl,tools/vm/trn-vmctl.c))
ifneq ($(filter x86_64 i686,$(shell uname -m)),)
$(eval $(call program,trn-tsc-khz,tools/vm/trn-tsc-khz.c))
endif
