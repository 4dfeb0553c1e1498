# SPDX-License-Identifier: MIT

$(eval $(call unit_test,bench-options,tests/unit/bench/options.c tools/trn-bench/options.c \
	tools/trn-bench/timing.c,libdrm jansson,$(LIBTRN)))
$(O)/tests/unit/bench-options: $(O)/bin/trn-bench

$(eval $(call unit_test,bench-cost,tests/unit/bench/cost.c tools/trn-bench/cost.c,,))
one_thread += bench-options bench-cost
