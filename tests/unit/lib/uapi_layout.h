/* SPDX-License-Identifier: MIT */
/*
 * Every structure of the driver's interface, member by member, in the order of the
 * headers.  Compiled for 64 and for 32 bits.
 */
#ifndef TRN_TESTS_UAPI_LAYOUT_H
#define TRN_TESTS_UAPI_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include <drm/trn_accel.h>
#include <hw/trn_queue.h>

/* SIZE(structure), MEMBER(structure, member) */
#define UAPI_LAYOUT(SIZE, MEMBER)                                                                  \
	SIZE(drm_trn_array)                                                                        \
	MEMBER(drm_trn_array, stride)                                                              \
	MEMBER(drm_trn_array, count)                                                               \
	MEMBER(drm_trn_array, pointer)                                                             \
	SIZE(drm_trn_query)                                                                        \
	MEMBER(drm_trn_query, query)                                                               \
	MEMBER(drm_trn_query, size)                                                                \
	MEMBER(drm_trn_query, pointer)                                                             \
	SIZE(drm_trn_query_device)                                                                 \
	MEMBER(drm_trn_query_device, uuid)                                                         \
	MEMBER(drm_trn_query_device, generation)                                                   \
	MEMBER(drm_trn_query_device, serial)                                                       \
	MEMBER(drm_trn_query_device, firmware)                                                     \
	MEMBER(drm_trn_query_device, architecture_version)                                         \
	MEMBER(drm_trn_query_device, cores)                                                        \
	MEMBER(drm_trn_query_device, hbm_stack_size)                                               \
	MEMBER(drm_trn_query_device, hbm_stacks)                                                   \
	MEMBER(drm_trn_query_device, dma_engines)                                                  \
	MEMBER(drm_trn_query_device, coll_cores)                                                   \
	MEMBER(drm_trn_query_device, dtypes)                                                       \
	MEMBER(drm_trn_query_device, links)                                                        \
	MEMBER(drm_trn_query_device, sbuf_size)                                                    \
	MEMBER(drm_trn_query_device, psum_size)                                                    \
	MEMBER(drm_trn_query_device, semaphores)                                                   \
	MEMBER(drm_trn_query_device, va_bits)                                                      \
	MEMBER(drm_trn_query_device, ring_max)                                                     \
	MEMBER(drm_trn_query_device, page_size)                                                    \
	MEMBER(drm_trn_query_device, tensor_pack)                                                  \
	MEMBER(drm_trn_query_device, reserved)                                                     \
	SIZE(drm_trn_hbm_stack)                                                                    \
	MEMBER(drm_trn_hbm_stack, total)                                                           \
	MEMBER(drm_trn_hbm_stack, free)                                                            \
	MEMBER(drm_trn_hbm_stack, largest)                                                         \
	SIZE(drm_trn_query_memory)                                                                 \
	MEMBER(drm_trn_query_memory, stacks)                                                       \
	MEMBER(drm_trn_query_memory, pad)                                                          \
	MEMBER(drm_trn_query_memory, stack)                                                        \
	MEMBER(drm_trn_query_memory, cpu_visible)                                                  \
	MEMBER(drm_trn_query_memory, cpu_visible_free)                                             \
	MEMBER(drm_trn_query_memory, quota)                                                        \
	MEMBER(drm_trn_query_memory, quota_used)                                                   \
	SIZE(drm_trn_context_create)                                                               \
	MEMBER(drm_trn_context_create, flags)                                                      \
	MEMBER(drm_trn_context_create, context)                                                    \
	SIZE(drm_trn_context_destroy)                                                              \
	MEMBER(drm_trn_context_destroy, context)                                                   \
	MEMBER(drm_trn_context_destroy, pad)                                                       \
	SIZE(drm_trn_bo_create)                                                                    \
	MEMBER(drm_trn_bo_create, size)                                                            \
	MEMBER(drm_trn_bo_create, placement)                                                       \
	MEMBER(drm_trn_bo_create, stack)                                                           \
	MEMBER(drm_trn_bo_create, flags)                                                           \
	MEMBER(drm_trn_bo_create, handle)                                                          \
	SIZE(drm_trn_bo_mmap_offset)                                                               \
	MEMBER(drm_trn_bo_mmap_offset, handle)                                                     \
	MEMBER(drm_trn_bo_mmap_offset, pad)                                                        \
	MEMBER(drm_trn_bo_mmap_offset, offset)                                                     \
	SIZE(drm_trn_bo_create_userptr)                                                            \
	MEMBER(drm_trn_bo_create_userptr, address)                                                 \
	MEMBER(drm_trn_bo_create_userptr, size)                                                    \
	MEMBER(drm_trn_bo_create_userptr, flags)                                                   \
	MEMBER(drm_trn_bo_create_userptr, handle)                                                  \
	SIZE(drm_trn_bo_set_name)                                                                  \
	MEMBER(drm_trn_bo_set_name, handle)                                                        \
	MEMBER(drm_trn_bo_set_name, pad)                                                           \
	MEMBER(drm_trn_bo_set_name, name)                                                          \
	SIZE(drm_trn_bind_op)                                                                      \
	MEMBER(drm_trn_bind_op, op)                                                                \
	MEMBER(drm_trn_bind_op, flags)                                                             \
	MEMBER(drm_trn_bind_op, handle)                                                            \
	MEMBER(drm_trn_bind_op, pad)                                                               \
	MEMBER(drm_trn_bind_op, va)                                                                \
	MEMBER(drm_trn_bind_op, size)                                                              \
	MEMBER(drm_trn_bind_op, offset)                                                            \
	SIZE(drm_trn_vm_bind)                                                                      \
	MEMBER(drm_trn_vm_bind, context)                                                           \
	MEMBER(drm_trn_vm_bind, flags)                                                             \
	MEMBER(drm_trn_vm_bind, done)                                                              \
	MEMBER(drm_trn_vm_bind, ops)                                                               \
	MEMBER(drm_trn_vm_bind, syncs)                                                             \
	SIZE(drm_trn_queue_create)                                                                 \
	MEMBER(drm_trn_queue_create, context)                                                      \
	MEMBER(drm_trn_queue_create, type)                                                         \
	MEMBER(drm_trn_queue_create, mode)                                                         \
	MEMBER(drm_trn_queue_create, ring_entries)                                                 \
	MEMBER(drm_trn_queue_create, ring_va)                                                      \
	MEMBER(drm_trn_queue_create, flags)                                                        \
	MEMBER(drm_trn_queue_create, queue)                                                        \
	MEMBER(drm_trn_queue_create, control_offset)                                               \
	MEMBER(drm_trn_queue_create, doorbell_offset)                                              \
	SIZE(drm_trn_queue_destroy)                                                                \
	MEMBER(drm_trn_queue_destroy, queue)                                                       \
	MEMBER(drm_trn_queue_destroy, pad)                                                         \
	SIZE(drm_trn_sync)                                                                         \
	MEMBER(drm_trn_sync, handle)                                                               \
	MEMBER(drm_trn_sync, flags)                                                                \
	MEMBER(drm_trn_sync, point)                                                                \
	SIZE(drm_trn_submit)                                                                       \
	MEMBER(drm_trn_submit, queue)                                                              \
	MEMBER(drm_trn_submit, flags)                                                              \
	MEMBER(drm_trn_submit, packets)                                                            \
	MEMBER(drm_trn_submit, syncs)                                                              \
	SIZE(drm_trn_wait)                                                                         \
	MEMBER(drm_trn_wait, queue)                                                                \
	MEMBER(drm_trn_wait, flags)                                                                \
	MEMBER(drm_trn_wait, va)                                                                   \
	MEMBER(drm_trn_wait, value)                                                                \
	MEMBER(drm_trn_wait, deadline_ns)                                                          \
	SIZE(drm_trn_queue_error)                                                                  \
	MEMBER(drm_trn_queue_error, queue)                                                         \
	MEMBER(drm_trn_queue_error, reason)                                                        \
	MEMBER(drm_trn_queue_error, packet)                                                        \
	MEMBER(drm_trn_queue_error, access)                                                        \
	MEMBER(drm_trn_queue_error, address)                                                       \
	MEMBER(drm_trn_queue_error, exception)                                                     \
	MEMBER(drm_trn_queue_error, engine)                                                        \
	MEMBER(drm_trn_queue_error, instruction)                                                   \
	MEMBER(drm_trn_queue_error, pad)                                                           \
	SIZE(trn_packet)                                                                           \
	MEMBER(trn_packet, opcode)                                                                 \
	MEMBER(trn_packet, fence.value)                                                            \
	MEMBER(trn_packet, copy.length)                                                            \
	MEMBER(trn_packet, fill.unit_log2)                                                         \
	MEMBER(trn_packet, copy_nd.destination)                                                    \
	MEMBER(trn_packet, copy_nd.size)                                                           \
	MEMBER(trn_packet, copy_nd.source_stride)                                                  \
	MEMBER(trn_packet, copy_nd.destination_stride)                                             \
	MEMBER(trn_packet, exec.program)                                                           \
	MEMBER(trn_packet, exec.core)                                                              \
	MEMBER(trn_packet, exec.profile_size)                                                      \
	SIZE(trn_control)                                                                          \
	MEMBER(trn_control, tail)                                                                  \
	MEMBER(trn_control, need_kick)                                                             \
	MEMBER(trn_control, wake_at)                                                               \
	MEMBER(trn_control, generation)

#define UAPI_SIZE_VALUE(structure)	     sizeof(struct structure),
#define UAPI_MEMBER_VALUE(structure, member) offsetof(struct structure, member),

/* ioctl numbers have the structure's size in them. */
#define UAPI_LAYOUT_VALUES                                                                         \
	{ UAPI_LAYOUT(UAPI_SIZE_VALUE, UAPI_MEMBER_VALUE) DRM_IOCTL_TRN_QUERY,                     \
	  DRM_IOCTL_TRN_CONTEXT_CREATE,                                                            \
	  DRM_IOCTL_TRN_CONTEXT_DESTROY,                                                           \
	  DRM_IOCTL_TRN_BO_CREATE,                                                                 \
	  DRM_IOCTL_TRN_BO_MMAP_OFFSET,                                                            \
	  DRM_IOCTL_TRN_VM_BIND,                                                                   \
	  DRM_IOCTL_TRN_QUEUE_CREATE,                                                              \
	  DRM_IOCTL_TRN_QUEUE_DESTROY,                                                             \
	  DRM_IOCTL_TRN_SUBMIT,                                                                    \
	  DRM_IOCTL_TRN_WAIT,                                                                      \
	  DRM_IOCTL_TRN_BO_CREATE_USERPTR,                                                         \
	  DRM_IOCTL_TRN_BO_SET_NAME,                                                               \
	  DRM_IOCTL_TRN_QUEUE_ERROR }

#endif /* TRN_TESTS_UAPI_LAYOUT_H */
