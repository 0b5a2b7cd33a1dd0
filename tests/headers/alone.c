/* SPDX-License-Identifier: Apache-2.0 */
/* The rest of the file whose only include is the header under test. */
extern int test_header_is_alone;
