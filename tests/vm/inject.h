/* SPDX-License-Identifier: MIT */
/* Requests to trn-vdev, which breaks chips (Documentation/vdev.rst, "Injected faults"). */
#ifndef TRN_TESTS_INJECT_H
#define TRN_TESTS_INJECT_H

/* Fails the test unless trn-vdev does what the JSON object, made as by printf(), asks for. */
__attribute__((format(printf, 1, 2))) void inject(const char *request, ...);

#endif /* TRN_TESTS_INJECT_H */
