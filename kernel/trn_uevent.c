// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uevents of the DRM device: something was reset, the chip is wedged.
 *
 * drm_dev_wedged_event() is of no use here: it expects a primary node, which accel
 * devices do not have.
 */
#include <linux/kobject.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "trn_device.h"
#include "trn_uevent.h"

static void trn_uevent_send(struct trn_device *tdev, char **envp)
{
	int idx;

	/* Removal takes the node away after the end of the section. */
	if (!drm_dev_enter(&tdev->drm, &idx))
		return;
	/* Nobody has to know of a chip that was never registered. */
	if (tdev->drm.registered)
		kobject_uevent_env(&tdev->drm.accel->kdev->kobj, KOBJ_CHANGE, envp);
	drm_dev_exit(idx);
}

/**
 * trn_uevent_reset() - tell of a reset; sleeps
 * @tdev: device
 * @what: "queue", "context", "core" or "function"
 * @client_id: drm-client-id of the file that it befell, 0 for "function"
 */
void trn_uevent_reset(struct trn_device *tdev, const char *what, u64 client_id)
{
	char reset[24], client[40];
	char *envp[3] = {};

	envp[0] = reset;
	if (client_id)
		envp[1] = client;
	snprintf(reset, sizeof(reset), "TRN_RESET=%s", what);
	snprintf(client, sizeof(client), "TRN_CLIENT=%llu", client_id);
	trn_uevent_send(tdev, envp);
}

/* In the words of DRM's own event: what may bring the chip back; sleeps. */
void trn_uevent_wedged(struct trn_device *tdev)
{
	char wedged[] = "WEDGED=rebind,bus-reset";
	char *envp[2] = {};

	envp[0] = wedged;
	trn_uevent_send(tdev, envp);
}
