/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TAMIS_VIDEO_MODULE_H
#define TAMIS_VIDEO_MODULE_H

#include "video_ops.h"

tamis_status tamis_priv_av_writer_open(tamis_video_writer *writer,
                                       const tamis_video_write_options *options);

#endif
