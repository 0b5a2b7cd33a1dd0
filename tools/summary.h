/* SPDX-License-Identifier: Apache-2.0 */
/* What a command says about its files: each as it is done, and all of them at the end. */
#ifndef TOOL_SUMMARY_H
#define TOOL_SUMMARY_H

#include "job.h"

/* Filters the files of the job and says what became of them, as text or JSON. Returns an exit
 * code. */
int tool_run_all(tool_job *job);

#endif
