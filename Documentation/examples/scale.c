/* SPDX-License-Identifier: MIT */
/*
 * An application of libtrn: loads scale.neff (trn-neff asm scale.asm scale.neff), which makes
 * y = 2 x + bias of an x of 4 rows of 8, and executes it once.  Documentation/programs.rst.
 */
#include <stdio.h>
#include <stdlib.h>

#include <hw/trn_regs.h>
#include <trn/trn_program.h>

#define ROWS	4
#define COLUMNS 8
#define SIZE	(ROWS * COLUMNS * sizeof(float))

/* Ends the process with libtrn's sentence if a call failed. */
static void must(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "scale: %s\n", trn_error_message());
	exit(1);
}

static struct trn_queue *make_queue(struct trn_context *context, enum trn_queue_type type)
{
	const struct trn_queue_attributes attributes = {
		.size = sizeof(attributes),
		.mode = TRN_QUEUE_USER,
		.entries = 64,
		.type = type,
	};
	struct trn_queue *queue;

	must(trn_queue_create_attributes(context, &attributes, &queue));
	return queue;
}

/* A buffer in device memory, bound as the program's tensor of that name. */
static struct trn_buffer *make_tensor(struct trn_context *context, struct trn_tensor_set *set,
				      const char *name)
{
	struct trn_tensor tensor = { .size = SIZE, .dtype = TRN_DTYPE_FP32 };

	must(trn_buffer_create(context, TRN_PLACEMENT_HBM, TRN_STACK_ANY, SIZE, 0, &tensor.buffer));
	must(trn_tensor_set_bind(set, name, &tensor));
	return tensor.buffer;
}

static void print(const float y[ROWS][COLUMNS], const struct trn_execution_result *result)
{
	int row, column;

	for (row = 0; row < ROWS; row++)
		for (column = 0; column < COLUMNS; column++)
			printf("%g%c", y[row][column], column + 1 < COLUMNS ? ' ' : '\n');
	fprintf(stderr, "core %u: %llu cycles\n", result->core, (unsigned long long)result->cycles);
}

int main(int argc, char **argv)
{
	float x[ROWS][COLUMNS], y[ROWS][COLUMNS];
	struct trn_execution_result result;
	struct trn_buffer *x_memory, *y_memory;
	struct trn_queue *copies, *executions;
	struct trn_context *context;
	struct trn_program *program;
	struct trn_device *device;
	struct trn_tensor_set *set;
	uint64_t sequence;
	int i;

	if (argc != 2) {
		fprintf(stderr, "scale: expected the path of scale.neff\n");
		return 2;
	}
	must(trn_device_open(0, &device));
	must(trn_context_create(device, &context));
	copies = make_queue(context, TRN_QUEUE_DMA);
	executions = make_queue(context, TRN_QUEUE_EXEC);

	must(trn_program_load_file(copies, argv[1], &program));
	must(trn_tensor_set_create(program, &set));
	x_memory = make_tensor(context, set, "x");
	y_memory = make_tensor(context, set, "y");

	for (i = 0; i < ROWS * COLUMNS; i++)
		x[i / COLUMNS][i % COLUMNS] = (float)i;
	must(trn_write(copies, x_memory, 0, x, SIZE));
	must(trn_execute_async(executions, set, NULL, &sequence));
	/* Something else could be done here. */
	must(trn_queue_wait(executions, sequence, TRN_FOREVER));
	must(trn_read(copies, y, y_memory, 0, SIZE));
	must(trn_tensor_set_result(set, 0, &result));
	print(y, &result);

	must(trn_tensor_set_destroy(set));
	must(trn_program_unload(program));
	must(trn_buffer_destroy(x_memory));
	must(trn_buffer_destroy(y_memory));
	must(trn_queue_destroy(copies));
	must(trn_queue_destroy(executions));
	must(trn_context_destroy(context));
	must(trn_device_close(device));
	return 0;
}
