/* SPDX-License-Identifier: MIT */
#ifndef TRN_VDEV_LOG_H
#define TRN_VDEV_LOG_H

/*
 * Writes "trn-vdev: SUBJECT: message" as one line to standard error, in one
 * write, so that lines of several threads do not mix.  Any thread.
 */
void trn_log(const char *subject, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif /* TRN_VDEV_LOG_H */
