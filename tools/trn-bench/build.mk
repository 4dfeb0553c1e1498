# SPDX-License-Identifier: MIT

$(eval $(call program,trn-bench,$(addprefix tools/trn-bench/,copy.c main.c memory.c options.c report.c timing.c),libdrm jansson,$(LIBTRN)))
