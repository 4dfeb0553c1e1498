# SPDX-License-Identifier: MIT
# What a NeuronCore computes is the same bits everywhere: no fused operations.  -O3: vector code.
vdev_numerics_sources := $(addprefix tools/vdev/model/core/, \
	alu.c \
	dtype.c \
	element.c \
	functions.c \
	philox.c \
	tensor.c \
	vector.c)
$(foreach source,$(vdev_numerics_sources), \
	$(eval CFLAGS_$(source) := -O3 -ffp-contract=off -fno-math-errno))

vdev_model_packages := openblas
vdev_model_sources := $(vdev_numerics_sources) $(addprefix tools/vdev/model/, \
	core/control.c \
	core/core.c \
	core/gpsimd.c \
	core/instruction.c \
	core/memory.c \
	core/pattern.c \
	core/time.c \
	core/transfer.c \
	admin.c \
	chip.c \
	commands.c \
	dma.c \
	events.c \
	exec.c \
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
