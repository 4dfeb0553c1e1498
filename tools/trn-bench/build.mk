# SPDX-License-Identifier: MIT

$(eval $(call program,trn-bench,$(addprefix tools/trn-bench/,copy.c \
	cost.c document.c driver.c error.c instructions.c job.c latency.c main.c memory.c nvme.c options.c program.c report.c \
	report_queue.c sleeper.c submit.c submit_user.c timing.c tracefs.c),libdrm jansson,$(LIBTRN)))
