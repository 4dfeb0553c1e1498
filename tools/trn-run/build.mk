# SPDX-License-Identifier: MIT

$(eval $(call program,trn-run,$(addprefix tools/trn-run/,array.c main.c options.c report.c run.c trace.c) \
	tools/trn-neff/instruction.c,libdrm $(neff_packages),$(LIBTRN)))
