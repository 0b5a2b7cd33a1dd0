/* SPDX-License-Identifier: Apache-2.0 */
/* Chains on a device against the reference, for what random checks leave out as too slow. */
#ifndef TAMIS_TEST_DEVICE_H
#define TAMIS_TEST_DEVICE_H

#include <tamis/tamis.h>

typedef struct test_device_row {
    const char *chain;
    tamis_type type;
    int channels, w, h;
    double tolerance; /* in samples */
    int stripes;      /* 1: columns of black and white, the largest differences that there are */
} test_device_row;

/* Compares each row, where there is a device, and says how many passed; the exit status. */
int test_device_rows(const test_device_row *rows, int count);

#endif
