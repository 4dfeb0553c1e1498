// SPDX-License-Identifier: MIT
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEPS_MAX 50000000

static bool in_range(uint64_t dma, uint64_t base, uint64_t size, size_t length)
{
	return dma >= base && dma - base < size && length <= size - (dma - base);
}

static bool allowed(const struct rig *rig, uint64_t dma, uint8_t what)
{
	return !(__atomic_load_n(&rig->denied[(dma - RIG_RAM) / 4096], __ATOMIC_ACQUIRE) & what);
}

static void count_access(struct rig *rig)
{
	__atomic_add_fetch(&rig->accesses, 1, __ATOMIC_RELAXED);
}

/* What a map holds beyond what was asked for: all around it that is not refused. */
static void set_window(const struct rig *rig, struct trn_host_map *map, uint64_t dma, uint8_t what)
{
	uint64_t start, end;

	map->first = dma;
	map->last = dma + map->length - 1;
	if (!rig->window)
		return;
	start = dma & ~(rig->window - 1);
	end = start + rig->window;
	if (start < RIG_RAM)
		start = RIG_RAM;
	if (end > RIG_RAM + RIG_RAM_SIZE)
		end = RIG_RAM + RIG_RAM_SIZE;
	while (map->first > start && allowed(rig, map->first - 1, what))
		map->first = (map->first - 1) & ~4095ULL;
	while (map->last + 1 < end && allowed(rig, map->last + 1, what))
		map->last = (map->last + 1) | 4095;
}

static int host_map(void *host, uint64_t dma, size_t length, bool write, struct trn_host_map *map)
{
	struct rig *rig = host;
	uint8_t what = write ? RIG_DENY_WRITE : RIG_DENY_READ;
	size_t usable;

	count_access(rig);
	if (rig->on_map)
		rig->on_map(rig->data, dma);
	if (in_range(dma, RIG_REMOTE, RIG_REMOTE_SIZE, 1))
		return -EOPNOTSUPP;
	if (!in_range(dma, RIG_RAM, RIG_RAM_SIZE, 1) || !allowed(rig, dma, what))
		return -EFAULT;
	/* All pages up to the first one that is refused. */
	usable = 4096 - dma % 4096;
	while (usable < length && in_range(dma + usable, RIG_RAM, RIG_RAM_SIZE, 1) &&
	       allowed(rig, dma + usable, what))
		usable += 4096;
	if (usable > length)
		usable = length;
	if (rig->map_limit && usable > rig->map_limit)
		usable = rig->map_limit;
	*map = (struct trn_host_map){ .address = rig_pointer(rig, dma),
				      .length = usable,
				      .token = rig };
	set_window(rig, map, dma, what);
	__atomic_add_fetch(&rig->held, 1, __ATOMIC_RELAXED);
	return 0;
}

static void host_unmap(void *host, struct trn_host_map *map)
{
	struct rig *rig = host;

	if (map->token != rig)
		ck_abort_msg("a map is given back that was not held");
	map->token = NULL;
	__atomic_sub_fetch(&rig->held, 1, __ATOMIC_RELAXED);
}

static uint8_t *reach(struct rig *rig, uint64_t dma, size_t length, uint8_t what)
{
	count_access(rig);
	if (in_range(dma, RIG_REMOTE, RIG_REMOTE_SIZE, length))
		return rig->remote + (dma - RIG_REMOTE);
	if (!in_range(dma, RIG_RAM, RIG_RAM_SIZE, length))
		return NULL;
	for (uint64_t page = dma & ~4095ULL; page < dma + length; page += 4096) {
		if (!allowed(rig, page, what))
			return NULL;
	}
	return rig_pointer(rig, dma);
}

static int host_read(void *host, uint64_t dma, void *buffer, size_t length)
{
	uint8_t *memory = reach(host, dma, length, RIG_DENY_READ);

	if (!memory)
		return -EFAULT;
	memcpy(buffer, memory, length);
	return 0;
}

static int host_write(void *host, uint64_t dma, const void *buffer, size_t length)
{
	uint8_t *memory = reach(host, dma, length, RIG_DENY_WRITE);

	if (!memory)
		return -EFAULT;
	memcpy(memory, buffer, length);
	return 0;
}

static void host_interrupt(void *host, unsigned int vector)
{
	struct rig *rig = host;

	if (vector >= TRN_VECTORS)
		ck_abort_msg("vector %u", vector);
	if (rig->on_interrupt)
		rig->on_interrupt(rig->data, vector);
	__atomic_add_fetch(&rig->interrupts[vector], 1, __ATOMIC_RELEASE);
}

static const struct trn_host_ops host_ops = {
	.map = host_map,
	.unmap = host_unmap,
	.read = host_read,
	.write = host_write,
	.interrupt = host_interrupt,
};

static void *reserve(size_t length)
{
	void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

void rig_create(struct rig *rig, const char *generation, uint64_t hbm_size, unsigned int defects)
{
	struct trn_chip_config config = {
		.generation = trn_generation_by_name(generation),
		.hbm_size = hbm_size ? hbm_size : RIG_HBM_SIZE,
		.aperture = 1 << 20,
		.hbm_kept = RIG_HBM_KEPT,
		.page_sizes = TRN_CHIP_PAGE_SIZES,
		.uuid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
		.serial = "RIG-0001",
		.defects = defects,
	};

	memset(rig, 0, sizeof(*rig));
	rig->ram = reserve(RIG_RAM_SIZE);
	rig->remote = reserve(RIG_REMOTE_SIZE);
	rig->denied = reserve(RIG_RAM_SIZE / 4096);
	rig->chip = trn_chip_create(&config, &host_ops, rig);
	ck_assert_ptr_nonnull(rig->chip);
	/* One look at the tail, then sleep: how often a queue polls must not hang on time. */
	rig->chip->poll_ns = 0;
}

void rig_destroy(struct rig *rig)
{
	trn_chip_destroy(rig->chip);
	ck_assert_int_eq(rig->held, 0);
	munmap(rig->ram, RIG_RAM_SIZE);
	munmap(rig->remote, RIG_REMOTE_SIZE);
	munmap(rig->denied, RIG_RAM_SIZE / 4096);
}

uint64_t rig_alloc(struct rig *rig, size_t length)
{
	uint64_t dma = RIG_RAM + rig->ram_used;

	rig->ram_used += (length + 4095) & ~4095ULL;
	ck_assert_uint_le(rig->ram_used, RIG_RAM_SIZE);
	return dma;
}

void *rig_pointer(struct rig *rig, uint64_t dma)
{
	if (in_range(dma, RIG_REMOTE, RIG_REMOTE_SIZE, 1))
		return rig->remote + (dma - RIG_REMOTE);
	return rig->ram + (dma - RIG_RAM);
}

void rig_deny(struct rig *rig, uint64_t dma, uint8_t what)
{
	__atomic_store_n(&rig->denied[(dma - RIG_RAM) / 4096], what, __ATOMIC_RELEASE);
}

unsigned int rig_accesses(const struct rig *rig)
{
	return __atomic_load_n(&rig->accesses, __ATOMIC_RELAXED);
}

unsigned int rig_interrupts(const struct rig *rig, unsigned int vector)
{
	return __atomic_load_n(&rig->interrupts[vector], __ATOMIC_ACQUIRE);
}

uint32_t rig_read32(struct rig *rig, uint64_t offset)
{
	return trn_chip_read_register(rig->chip, offset, 4);
}

uint64_t rig_read64(struct rig *rig, uint64_t offset)
{
	return trn_chip_read_register(rig->chip, offset, 8);
}

void rig_write32(struct rig *rig, uint64_t offset, uint32_t value)
{
	trn_chip_write_register(rig->chip, offset, 4, value);
}

void rig_write64(struct rig *rig, uint64_t offset, uint64_t value)
{
	trn_chip_write_register(rig->chip, offset, 8, value);
}

void rig_kick(struct rig *rig, unsigned int queue)
{
	uint64_t stride = rig_read32(rig, TRN_REG_CAP_DOORBELL_STRIDE);

	trn_chip_write_doorbell(rig->chip, queue * stride + TRN_DOORBELL_KICK, 4, 1);
}

void rig_pass(struct rig *rig, uint64_t ns)
{
	rig->chip->epoch -= ns;
}

uint64_t rig_step(struct rig *rig)
{
	uint64_t wait = trn_chip_step(rig->chip);

	/* Not ck_assert_int_eq(): even when it holds it takes microseconds. */
	if (rig->held)
		ck_abort_msg("%d maps are held after a step", rig->held);
	return wait;
}

uint64_t rig_run(struct rig *rig)
{
	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		uint64_t wait = rig_step(rig);

		if (wait)
			return wait;
	}
	ck_abort_msg("the chip never comes to rest");
}

void rig_enable(struct rig *rig, uint32_t admin_size)
{
	uint32_t status;

	rig->sq = rig_alloc(rig, admin_size * sizeof(struct trn_admin_command));
	rig->cq = rig_alloc(rig, admin_size * sizeof(struct trn_admin_completion));
	rig->admin_size = admin_size;
	rig->sq_tail = 0;
	rig->cq_head = 0;
	rig->phase = 1;
	rig_write64(rig, TRN_REG_ADMIN_SQ_BASE, rig->sq);
	rig_write64(rig, TRN_REG_ADMIN_CQ_BASE, rig->cq);
	rig_write32(rig, TRN_REG_ADMIN_SIZE, admin_size);
	rig_write32(rig, TRN_REG_CTRL, TRN_CTRL_ENABLE);
	rig_run(rig);
	status = rig_read32(rig, TRN_REG_STATUS);
	ck_assert_uint_ne(status & (TRN_STATUS_READY | TRN_STATUS_FATAL), 0);
}

void rig_ready(struct rig *rig)
{
	rig_create(rig, "trn1", 0, 0);
	rig_enable(rig, 16);
	ck_assert_uint_eq(rig_read32(rig, TRN_REG_STATUS), TRN_STATUS_READY);
}

uint16_t rig_admin_put(struct rig *rig, const struct trn_admin_command *command)
{
	struct trn_admin_command *ring = rig_pointer(rig, rig->sq);

	ring[rig->sq_tail] = *command;
	ring[rig->sq_tail].command_id = htole16(++rig->command_id);
	rig->sq_tail = (rig->sq_tail + 1) % rig->admin_size;
	return rig->command_id;
}

void rig_admin_ring(struct rig *rig)
{
	rig_write32(rig, TRN_REG_ADMIN_SQ_TAIL, rig->sq_tail);
}

bool rig_admin_get(struct rig *rig, struct trn_admin_completion *completion)
{
	struct trn_admin_completion *ring = rig_pointer(rig, rig->cq);
	struct trn_admin_completion *entry = &ring[rig->cq_head];

	if ((le16toh(__atomic_load_n(&entry->phase, __ATOMIC_ACQUIRE)) & 1) != rig->phase)
		return false;
	*completion = *entry;
	rig->cq_head = (rig->cq_head + 1) % rig->admin_size;
	if (rig->cq_head == 0)
		rig->phase ^= 1;
	rig_write32(rig, TRN_REG_ADMIN_CQ_HEAD, rig->cq_head);
	return true;
}

static struct trn_admin_completion admin(struct rig *rig, const struct trn_admin_command *command)
{
	struct trn_admin_completion completion;
	uint16_t id = rig_admin_put(rig, command);

	rig_admin_ring(rig);
	for (unsigned int i = 0; i < STEPS_MAX; i++) {
		if (rig_admin_get(rig, &completion)) {
			ck_assert_uint_eq(le16toh(completion.command_id), id);
			return completion;
		}
		rig_step(rig);
	}
	ck_abort_msg("admin command %u has no completion", id);
}

uint16_t rig_admin(struct rig *rig, struct trn_admin_command command)
{
	return le16toh(admin(rig, &command).status);
}

void *rig_log(struct rig *rig, uint8_t page, uint16_t id)
{
	uint64_t buffer = rig_alloc(rig, 4096);
	struct trn_admin_command command = {
		.opcode = TRN_ADMIN_GET_LOG,
		.log = {
			.buffer = htole64(buffer),
			.length = htole32(4096),
			.page = page,
			.id = htole16(id),
		},
	};

	memset(rig_pointer(rig, buffer), 0xee, 4096);
	ck_assert_uint_eq(rig_admin(rig, command), TRN_ADMIN_SUCCESS);
	return rig_pointer(rig, buffer);
}

struct trn_event rig_last_event(struct rig *rig)
{
	struct trn_log_events *log = rig_log(rig, TRN_LOG_EVENTS, 0);
	uint32_t count = le32toh(log->count);

	ck_assert_uint_gt(count, 0);
	return log->event[count - 1];
}

uint64_t rig_event_count(struct rig *rig)
{
	struct trn_log_events *log = rig_log(rig, TRN_LOG_EVENTS, 0);

	return le64toh(log->next_sequence) - 1;
}

void rig_space_create(struct rig *rig, struct rig_space *space, uint16_t asid)
{
	space->asid = asid;
	space->root = rig_alloc(rig, TRN_PT_SIZE);
	ck_assert_uint_eq(rig_admin(rig,
				    (struct trn_admin_command){
					    .opcode = TRN_ADMIN_CONTEXT_CREATE,
					    .context = { .asid = htole16(asid),
							 .root = htole64(space->root) },
				    }),
			  TRN_ADMIN_SUCCESS);
}

__le64 *rig_entry_at(struct rig *rig, const struct rig_space *space, uint64_t va,
		     unsigned int leaf_level)
{
	uint64_t table = space->root;

	for (unsigned int level = TRN_PT_LEVELS - 1; level > leaf_level; level--) {
		__le64 *entry = (__le64 *)rig_pointer(rig, table) +
				(va >> TRN_PT_SHIFT(level)) % TRN_PT_ENTRIES;

		if (!*entry)
			trn_store64(entry, rig_alloc(rig, TRN_PT_SIZE) | TRN_PTE_VALID);
		table = le64toh(*entry) & TRN_PTE_ADDRESS_MASK;
	}
	return (__le64 *)rig_pointer(rig, table) +
	       (va >> TRN_PT_SHIFT(leaf_level)) % TRN_PT_ENTRIES;
}

__le64 *rig_entry(struct rig *rig, const struct rig_space *space, uint64_t va)
{
	return rig_entry_at(rig, space, va, 0);
}

void rig_map_leaves(struct rig *rig, const struct rig_space *space, uint64_t va, uint64_t target,
		    uint64_t address, uint64_t length, unsigned int level)
{
	for (uint64_t offset = 0; offset < length; offset += 1ULL << TRN_PT_SHIFT(level))
		trn_store64(rig_entry_at(rig, space, va + offset, level),
			    (address + offset) | target | TRN_PTE_VALID | TRN_PTE_LEAF |
				    TRN_PTE_READ | TRN_PTE_WRITE);
}

void rig_map(struct rig *rig, const struct rig_space *space, uint64_t va, uint64_t target,
	     uint64_t address, uint64_t length)
{
	rig_map_leaves(rig, space, va, target, address, length, 0);
}

void *rig_map_host_page(struct rig *rig, const struct rig_space *space, uint64_t va)
{
	uint64_t dma = rig_alloc(rig, TRN_PAGE_SIZE);

	rig_map(rig, space, va, TRN_PTE_TARGET_HOST, dma, TRN_PAGE_SIZE);
	return rig_pointer(rig, dma);
}

uint16_t rig_invalidate(struct rig *rig, uint16_t asid, uint64_t va, uint64_t length)
{
	return rig_admin(rig, (struct trn_admin_command){
				      .opcode = TRN_ADMIN_TLB_INVALIDATE,
				      .invalidate = { .asid = htole16(asid),
						      .va = htole64(va),
						      .length = htole64(length) },
			      });
}

void rig_queue_create(struct rig *rig, struct rig_queue *queue, uint16_t id,
		      const struct rig_space *ring_space, const struct rig_space *space,
		      uint8_t ring_log2)
{
	rig_queue_create_limited(rig, queue, id, ring_space, space, ring_log2, 0, 0);
}

static void create_queue(struct rig *rig, struct rig_queue *queue, uint16_t id, uint8_t type,
			 const struct rig_space *ring_space, const struct rig_space *space,
			 uint8_t ring_log2, uint8_t priority, uint32_t time_limit)
{
	memset(queue, 0, sizeof(*queue));
	queue->id = id;
	queue->vector = 1 + id % (TRN_VECTORS - 1);
	queue->size = 1U << ring_log2;
	queue->control_dma = rig_alloc(rig, TRN_CONTROL_PAGE_SIZE);
	queue->control = rig_pointer(rig, queue->control_dma);
	queue->ring_dma = rig_alloc(rig, queue->size * sizeof(struct trn_packet));
	queue->ring = rig_pointer(rig, queue->ring_dma);
	queue->ring_va = (1ULL << 40) + (uint64_t)id * (1 << 20);
	rig_map(rig, ring_space, queue->ring_va, TRN_PTE_TARGET_HOST, queue->ring_dma,
		queue->size * sizeof(struct trn_packet));
	ck_assert_uint_eq(rig_admin(rig, (struct trn_admin_command){
					       .opcode = TRN_ADMIN_QUEUE_CREATE,
					       .queue_create = {
						       .queue = htole16(id),
						       .type = type,
						       .ring_log2 = ring_log2,
						       .ring_asid = htole16(ring_space->asid),
						       .asid = htole16(space->asid),
						       .vector = htole16(queue->vector),
						       .priority = priority,
						       .time_limit = htole32(time_limit),
						       .ring_va = htole64(queue->ring_va),
						       .control = htole64(queue->control_dma),
					       },
				       }),
			  TRN_ADMIN_SUCCESS);
}

void rig_queue_create_limited(struct rig *rig, struct rig_queue *queue, uint16_t id,
			      const struct rig_space *ring_space, const struct rig_space *space,
			      uint8_t ring_log2, uint8_t priority, uint32_t time_limit)
{
	create_queue(rig, queue, id, TRN_QUEUE_TYPE_DMA, ring_space, space, ring_log2, priority,
		     time_limit);
}

void rig_exec_queue_create(struct rig *rig, struct rig_queue *queue, uint16_t id,
			   const struct rig_space *space)
{
	create_queue(rig, queue, id, TRN_QUEUE_TYPE_EXEC, space, space, 4, 0, 0);
}

uint16_t rig_queue_command(struct rig *rig, uint8_t opcode, uint16_t id)
{
	return rig_admin(rig, (struct trn_admin_command){
				      .opcode = opcode,
				      .queue = { .queue = htole16(id) },
			      });
}

struct trn_packet rig_nop(void)
{
	return (struct trn_packet){ .opcode = TRN_PACKET_NOP };
}

struct trn_packet rig_fence(uint8_t opcode, uint64_t address, uint64_t value)
{
	return (struct trn_packet){
		.opcode = opcode,
		.fence = { .address = htole64(address), .value = htole64(value) },
	};
}

struct trn_packet rig_copy(uint64_t source, uint64_t destination, uint64_t length)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_COPY,
		.copy = { .source = htole64(source),
			  .destination = htole64(destination),
			  .length = htole64(length) },
	};
}

struct trn_packet rig_copy_nd(uint64_t source, uint64_t destination, const uint32_t size[4],
			      const uint32_t source_stride[3], const uint32_t destination_stride[3])
{
	struct trn_packet packet = {
		.opcode = TRN_PACKET_COPY_ND,
		.copy_nd = { .source = htole64(source), .destination = htole64(destination) },
	};

	for (unsigned int i = 0; i < 4; i++)
		packet.copy_nd.size[i] = htole32(size[i]);
	for (unsigned int i = 0; i < 3; i++) {
		packet.copy_nd.source_stride[i] = htole32(source_stride[i]);
		packet.copy_nd.destination_stride[i] = htole32(destination_stride[i]);
	}
	return packet;
}

struct trn_packet rig_fill(uint64_t destination, uint64_t length, uint64_t pattern,
			   uint8_t unit_log2)
{
	return (struct trn_packet){
		.opcode = TRN_PACKET_FILL,
		.fill = { .destination = htole64(destination),
			  .length = htole64(length),
			  .pattern = htole64(pattern),
			  .unit_log2 = unit_log2 },
	};
}

void rig_put(struct rig_queue *queue, struct trn_packet packet)
{
	queue->ring[queue->tail++ & (queue->size - 1)] = packet;
}

void rig_store_tail(struct rig_queue *queue)
{
	trn_store32(&queue->control->tail, queue->tail);
}

bool rig_need_kick(struct rig_queue *queue)
{
	trn_full_barrier();
	return trn_load32(&queue->control->need_kick);
}

void rig_submit(struct rig *rig, struct rig_queue *queue, struct trn_packet packet)
{
	rig_put(queue, packet);
	rig_store_tail(queue);
	if (rig_need_kick(queue))
		rig_kick(rig, queue->id);
}

void rig_execute(struct rig *rig, struct rig_queue *queue, struct trn_packet packet)
{
	rig_submit(rig, queue, packet);
	rig_run(rig);
}

uint32_t rig_head(const struct rig_queue *queue)
{
	return trn_load32(&queue->control->head);
}

enum trn_queue_state rig_state(const struct rig *rig, const struct rig_queue *queue)
{
	ck_assert_ptr_nonnull(rig->chip->queue[queue->id]);
	return rig->chip->queue[queue->id]->state;
}

static struct trn_event assert_stopped(struct rig *rig, const struct rig_queue *queue,
				       uint8_t reason)
{
	struct trn_event event = rig_last_event(rig);

	ck_assert_int_eq(rig_state(rig, queue), TRN_QUEUE_STOPPED);
	ck_assert_uint_eq(event.kind, TRN_EVENT_QUEUE_STOPPED);
	ck_assert_uint_eq(event.reason, reason);
	ck_assert_uint_eq(le16toh(event.queue), queue->id);
	ck_assert_uint_eq(le32toh(event.packet), rig_head(queue));
	return event;
}

void rig_assert_stopped(struct rig *rig, const struct rig_queue *queue, uint8_t reason)
{
	struct trn_event event = assert_stopped(rig, queue, reason);

	ck_assert_uint_eq(le64toh(event.address), 0);
	ck_assert_uint_eq(le16toh(event.asid), 0);
	ck_assert_uint_eq(event.access, 0);
}

void rig_assert_fault(struct rig *rig, const struct rig_queue *queue, uint8_t reason, uint16_t asid,
		      uint8_t access, uint64_t address)
{
	struct trn_event event = assert_stopped(rig, queue, reason);

	ck_assert_uint_eq(le16toh(event.asid), asid);
	ck_assert_uint_eq(event.access, access);
	ck_assert_uint_eq(le64toh(event.address), address);
}

void rig_pattern(void *memory, size_t length, unsigned int seed)
{
	uint8_t *bytes = memory;
	uint32_t x = seed * 2654435761U + 1;

	for (size_t i = 0; i < length; i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = x >> 24;
	}
}

static uint64_t random_state;

void rig_random_seed(uint64_t seed)
{
	random_state = seed;
}

uint64_t rig_random(void)
{
	/* xorshift64* */
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dULL;
}

uint64_t rig_below(uint64_t limit)
{
	return (rig_random() >> 11) % limit;
}

uint64_t rig_resident(void)
{
	unsigned long long size, pages;
	FILE *file = fopen("/proc/self/statm", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%llu %llu", &size, &pages), 2);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
