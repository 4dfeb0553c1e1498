# SPDX-License-Identifier: MIT
vdev_model_sources := $(addprefix tools/vdev/model/, \
	admin.c \
	chip.c \
	commands.c \
	dma.c \
	events.c \
	generations.c \
	hbm.c \
	inject.c \
	logs.c \
	operand.c \
	queue.c \
	registers.c \
	rounds.c \
	span.c \
	tlb.c \
	translate.c \
	vectors.c)
