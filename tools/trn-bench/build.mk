# SPDX-License-Identifier: MIT

$(eval $(call program,trn-bench,$(addprefix tools/trn-bench/,copy.c main.c options.c),libdrm jansson,$(LIBTRN)))
