/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints; Documentation/driver.rst has their fields.  @accel is the number in
 * /dev/accel/accelN, @queue the hardware's number of a queue.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM trn

#if !defined(_TRN_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRN_TRACE_H

#include <linux/tracepoint.h>

#include <drm/drm_file.h>

#include "trn_device.h"
#include "trn_queue.h"
#include "trn_recovery.h"

TRACE_EVENT(trn_job_submit,
	    TP_PROTO(const struct trn_queue *queue, u64 job, u32 packets),
	    TP_ARGS(queue, job, packets),
	    TP_STRUCT__entry(__field(u32, accel)
			     __field(u32, queue)
			     __field(u64, job)
			     __field(u32, packets)),
	    TP_fast_assign(__entry->accel = queue->tdev->drm.accel->index;
			   __entry->queue = queue->id;
			   __entry->job = job;
			   __entry->packets = packets;),
	    TP_printk("accel=%u queue=%u job=%llu packets=%u", __entry->accel, __entry->queue,
		      __entry->job, __entry->packets));

TRACE_EVENT(trn_job_done,
	    TP_PROTO(const struct trn_queue *queue, u64 job, int error),
	    TP_ARGS(queue, job, error),
	    TP_STRUCT__entry(__field(u32, accel)
			     __field(u32, queue)
			     __field(u64, job)
			     __field(int, error)),
	    TP_fast_assign(__entry->accel = queue->tdev->drm.accel->index;
			   __entry->queue = queue->id;
			   __entry->job = job;
			   __entry->error = error;),
	    TP_printk("accel=%u queue=%u job=%llu error=%d", __entry->accel, __entry->queue,
		      __entry->job, __entry->error));

TRACE_EVENT(trn_queue_stop,
	    TP_PROTO(const struct trn_queue *queue, const struct trn_stop *stop),
	    TP_ARGS(queue, stop),
	    TP_STRUCT__entry(__field(u32, accel)
			     __field(u32, queue)
			     __field(u64, client)
			     __field(u32, reason)
			     __field(u32, packet)
			     __field(u32, access)
			     __field(u64, address)
			     __field(u32, exception)
			     __field(u32, engine)
			     __field(u32, instruction)),
	    TP_fast_assign(__entry->accel = queue->tdev->drm.accel->index;
			   __entry->queue = queue->id;
			   __entry->client = queue->client_id;
			   __entry->reason = stop->reason;
			   __entry->packet = stop->packet;
			   __entry->access = stop->access;
			   __entry->address = stop->address;
			   __entry->exception = stop->exception;
			   __entry->engine = stop->engine;
			   __entry->instruction = stop->instruction;),
	    TP_printk("accel=%u queue=%u client=%llu reason=%u packet=%u access=%u address=0x%llx exception=%u engine=%u instruction=%u",
		      __entry->accel, __entry->queue, __entry->client, __entry->reason,
		      __entry->packet, __entry->access, __entry->address, __entry->exception,
		      __entry->engine, __entry->instruction));

TRACE_EVENT(trn_recover,
	    TP_PROTO(const struct trn_queue *queue, enum trn_rung rung, int result),
	    TP_ARGS(queue, rung, result),
	    TP_STRUCT__entry(__field(u32, accel)
			     __field(u32, queue)
			     __field(u64, client)
			     __field(u32, rung)
			     __field(int, result)),
	    TP_fast_assign(__entry->accel = queue->tdev->drm.accel->index;
			   __entry->queue = queue->id;
			   __entry->client = queue->client_id;
			   __entry->rung = rung;
			   __entry->result = result;),
	    TP_printk("accel=%u queue=%u client=%llu rung=%s result=%d", __entry->accel,
		      __entry->queue, __entry->client,
		      __print_symbolic(__entry->rung, { TRN_RUNG_QUEUE, "queue" },
				       { TRN_RUNG_CONTEXT, "context" },
				       { TRN_RUNG_CORE, "core" }),
		      __entry->result));

TRACE_EVENT(trn_reset_begin,
	    TP_PROTO(struct trn_device *tdev, const char *reason),
	    TP_ARGS(tdev, reason),
	    TP_STRUCT__entry(__field(u32, accel)
			     __string(reason, reason)),
	    TP_fast_assign(__entry->accel = tdev->drm.accel->index;
			   __assign_str(reason);),
	    TP_printk("accel=%u reason=\"%s\"", __entry->accel, __get_str(reason)));

TRACE_EVENT(trn_reset_end,
	    TP_PROTO(struct trn_device *tdev, bool running),
	    TP_ARGS(tdev, running),
	    TP_STRUCT__entry(__field(u32, accel)
			     __field(bool, running)),
	    TP_fast_assign(__entry->accel = tdev->drm.accel->index;
			   __entry->running = running;),
	    TP_printk("accel=%u running=%d", __entry->accel, __entry->running));

#endif /* _TRN_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trn_trace
#include <trace/define_trace.h>
