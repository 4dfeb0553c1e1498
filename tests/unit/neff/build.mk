# SPDX-License-Identifier: MIT

$(eval $(call unit_test,neff,$(addprefix tests/unit/neff/,neff.c content.c program.c craft.c meter.c),\
	$(neff_packages),$(LIBTRN)))

$(eval $(call unit_test,neff-tool,$(addprefix tests/unit/neff/,tool.c program.c craft.c meter.c),\
	$(neff_packages),$(LIBTRN)))
$(O)/tests/unit/neff-tool: $(O)/bin/trn-neff

$(eval $(call unit_test,neff-assembler,tests/unit/neff/assembler.c tools/trn-neff/instruction.c,\
	$(neff_packages),$(LIBTRN)))
$(O)/tests/unit/neff-assembler: $(O)/bin/trn-neff
one_thread += neff neff-tool neff-assembler
