/* SPDX-License-Identifier: MIT */
/* Requests of verb "inject": their members, and in words why a fault is refused. */
#ifndef TRN_VDEV_FAULTS_H
#define TRN_VDEV_FAULTS_H

#include <jansson.h>

#include "model/inject.h"

/* Reads request.  NULL, or a text for free() that says what is wrong with it. */
char *trn_fault_parse(const json_t *request, struct trn_injection *injection);

/* Why trn_server_inject() of chip failed: a text for free(). */
char *trn_fault_refusal(unsigned int chip, const struct trn_injection *injection, int err);

#endif /* TRN_VDEV_FAULTS_H */
