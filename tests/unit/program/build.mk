# SPDX-License-Identifier: MIT

$(eval $(call unit_test,program,$(addprefix tests/unit/program/,program.c sample.c) \
	tests/unit/neff/meter.c tests/unit/lib/fake_queue.c $(lib_fake),libdrm $(neff_packages),$(LIBTRN)))

$(eval $(call unit_test,run-tool,$(addprefix tests/unit/program/,run.c sample.c) \
	$(addprefix tools/trn-run/,array.c options.c report.c trace.c) tools/trn-neff/instruction.c,\
	libdrm $(neff_packages),$(LIBTRN)))
$(O)/tests/unit/run-tool: $(O)/bin/trn-run
one_thread += run-tool
