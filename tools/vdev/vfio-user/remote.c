/* SPDX-License-Identifier: MIT */
#include "remote.h"

#include <errno.h>
#include <string.h>

#include "transport.h"

/* Far below 2^16, so that no two requests without an answer have the same id. */
#define ABANDONED_MAX 1024

void trn_remote_init(struct trn_remote *remote)
{
	*remote = (struct trn_remote){ 0 };
	pthread_mutex_init(&remote->lock, NULL);
	pthread_cond_init(&remote->answered, NULL);
}

void trn_remote_destroy(struct trn_remote *remote)
{
	pthread_cond_destroy(&remote->answered);
	pthread_mutex_destroy(&remote->lock);
}

void trn_remote_start(struct trn_remote *remote)
{
	pthread_mutex_lock(&remote->lock);
	remote->abandoned = 0;
	pthread_mutex_unlock(&remote->lock);
}

void trn_remote_close(struct trn_remote *remote)
{
	pthread_mutex_lock(&remote->lock);
	remote->closed++;
	if (remote->waiting) {
		remote->waiting = false;
		remote->error = -EFAULT;
		remote->abandoned++;
		pthread_cond_signal(&remote->answered);
	}
	pthread_mutex_unlock(&remote->lock);
}

void trn_remote_open(struct trn_remote *remote)
{
	pthread_mutex_lock(&remote->lock);
	remote->closed--;
	pthread_mutex_unlock(&remote->lock);
}

int trn_remote_transfer(struct trn_remote *remote, trn_remote_send send, void *context,
			uint16_t command, uint64_t address, void *buffer, size_t count)
{
	uint16_t id;
	int err;

	pthread_mutex_lock(&remote->lock);
	if (remote->closed || remote->abandoned >= ABANDONED_MAX) {
		pthread_mutex_unlock(&remote->lock);
		return -EFAULT;
	}
	id = ++remote->id;
	remote->command = command;
	remote->buffer = buffer;
	remote->count = count;
	remote->waiting = true;
	pthread_mutex_unlock(&remote->lock);

	err = send(context, id, command, address, count,
		   command == VFIO_USER_DMA_WRITE ? buffer : NULL);

	pthread_mutex_lock(&remote->lock);
	if (err) {
		remote->waiting = false;
		remote->error = -EFAULT;
	}
	while (remote->waiting)
		pthread_cond_wait(&remote->answered, &remote->lock);
	err = remote->error;
	pthread_mutex_unlock(&remote->lock);
	return err;
}

/* 0, -EFAULT if the client refused, -EPROTO if the answer is not one. */
static int accept_answer(struct trn_remote *remote, const struct trn_message *message)
{
	const size_t data = sizeof(struct vfio_user_dma_access);

	if (message->header.command != remote->command)
		return -EPROTO;
	if (message->header.flags & VFIO_USER_ERROR)
		return -EFAULT;
	if (remote->command == VFIO_USER_DMA_READ) {
		if (message->size != data + remote->count)
			return -EPROTO;
		memcpy(remote->buffer, message->body + data, remote->count);
	}
	return 0;
}

bool trn_remote_reply(struct trn_remote *remote, const struct trn_message *message)
{
	bool expected = true;

	pthread_mutex_lock(&remote->lock);
	if (remote->waiting && message->header.id == remote->id) {
		int err = accept_answer(remote, message);

		expected = err != -EPROTO;
		remote->error = err ? -EFAULT : 0;
		remote->waiting = false;
		pthread_cond_signal(&remote->answered);
	} else if (remote->abandoned) {
		remote->abandoned--;
	} else {
		expected = false;
	}
	pthread_mutex_unlock(&remote->lock);
	return expected;
}
