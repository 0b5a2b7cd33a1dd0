/* SPDX-License-Identifier: Apache-2.0 */
/* What libtamis-io sees of this module. */
#include "module.h"

#include <stdio.h>
#include <string.h>

#include <libswscale/swscale.h>

#include "mux.h"
#include "note.h"
#include "reader.h"

static int holds(const char *container)
{
    return tamis_priv_av_container(container) != NULL;
}

static const char *license_of(const char *text)
{
    return strncmp(text, "GPL", 3) == 0    ? "GPL"
           : strncmp(text, "LGPL", 4) == 0 ? "LGPL"
                                           : "nonfree";
}

static const char *libraries(char *buf, size_t size)
{
    unsigned format = avformat_version(), codec = avcodec_version(), scale = swscale_version();
    snprintf(buf, size, "libavformat %u.%u.%u, libavcodec %u.%u.%u, libswscale %u.%u.%u (%s)",
             AV_VERSION_MAJOR(format), AV_VERSION_MINOR(format), AV_VERSION_MICRO(format),
             AV_VERSION_MAJOR(codec), AV_VERSION_MINOR(codec), AV_VERSION_MICRO(codec),
             AV_VERSION_MAJOR(scale), AV_VERSION_MINOR(scale), AV_VERSION_MICRO(scale),
             license_of(avcodec_license()));
    return buf;
}

static const tamis_video_module module = {TAMIS_VIDEO_ABI, tamis_priv_av_reader_open,
                                          holds,           tamis_priv_av_writer_open,
                                          libraries,       tamis_priv_av_device_codecs};

TAMIS_API const tamis_video_module *tamis_video_module_entry(void);

const tamis_video_module *tamis_video_module_entry(void)
{
    tamis_priv_av_note_install();
    return &module;
}
