# SPDX-License-Identifier: MIT
vdev_model_sources := $(addprefix tools/vdev/model/, \
	admin.c \
	chip.c \
	dma.c \
	events.c \
	generations.c \
	hbm.c \
	operand.c \
	queue.c \
	registers.c \
	span.c \
	tlb.c \
	translate.c)
