# SPDX-License-Identifier: MIT

$(eval $(call program,trn-vmctl,tools/vm/trn-vmctl.c))
