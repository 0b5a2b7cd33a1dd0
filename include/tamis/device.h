/* SPDX-License-Identifier: Apache-2.0 */
/* Devices beside the CPU: NVIDIA GPUs, where the module tamis_cuda and a driver are there.
 *
 * A context made with .device = "cuda" plans for a GPU; everything else stays the same. Images may
 * lie in host memory, then a run brings them to the device and back, or in device memory, then they
 * stay there. With .device = "cuda:all" or "cuda:0,1" plans are for several devices: large images
 * in host memory are cut into bands, one or more for each, and frames of a stream (stream.h) are
 * shared out among them. The result has the same bits as one device's, for they are of one compute
 * capability: "cuda:all" leaves out those that are unlike the first, and says so in the log (INFO);
 * a list with unlike ones is refused (UNSUPPORTED).
 *
 * A context keeps device memory that runs have used for the next ones, until it is freed or memory
 * becomes short for the context itself; then what is idle goes back to the driver, and the
 * allocation is tried again. Other contexts and programs do not get it before.
 *
 * Where a device's memory is short a picture in host memory goes there in bands, with the same
 * bits. Chains with a filter that needs its whole result at once (Canny) do not gain by bands: they
 * fail with MEMORY, and where all of the device's memory would not do, when the plan is made; with
 * .device = "auto" that plan is for the CPU.
 *
 * Pictures of more than 2^31-1 - 2^20 rows, or of more samples than that in a row, are refused
 * (UNSUPPORTED); with .device = "auto" their plans are for the CPU.
 *
 * Order: calls with a stream (tamis_run_options.stream) enqueue their work there, after what is on
 * it. Calls without one, and frames of a tamis_stream, wait for what was enqueued on the device's
 * default stream (the legacy one) before the call, or before the frame was submitted. Work on other
 * streams that images depend on must be done by then.
 *
 * Calls leave the calling thread's CUDA context as they find it: a device of cudaSetDevice(), a
 * context of the program's own, or none. What a call calls back (log, progress) finds a device of
 * tamis's current, and leaves it so.
 *
 * To wrap device memory of your own, fill in a tamis_image as for host memory and set its field
 * device to 1 + the device's number. */
#ifndef TAMIS_DEVICE_H
#define TAMIS_DEVICE_H

#include <tamis/filter.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_device_info {
    char name[128];      /* as the driver gives it */
    int major, minor;    /* compute capability */
    int processors;      /* streaming multiprocessors */
    size_t memory, free; /* bytes */
    int driver, runtime; /* CUDA versions, 13000 for 13.0 */
} tamis_device_info;

/* Number of devices that this context could use; 0 where there are none, and the reason is the
 * context's newest message. Thread-safe. */
TAMIS_API int tamis_device_count(tamis_ctx *ctx);

/* Describes device number index, 0 .. count-1. Errors: ARGUMENT, DEVICE. Thread-safe. */
TAMIS_API tamis_status tamis_device_describe(tamis_ctx *ctx, int index, tamis_device_info *out);

/* Facts about kernel index 0, 1, ... of a filter on devices, as tamis_filter_kernel() gives them
 * for the CPU. Returns 0 when there are no more, or no devices. Thread-safe. */
TAMIS_API int tamis_device_kernel(tamis_ctx *ctx, const tamis_filter *filter, int index,
                                  tamis_kernel_info *out);

/* As tamis_image_create(), in the memory of a device. Rows start at 256-byte boundaries.
 * Errors: ARGUMENT, MEMORY, LIMIT, DEVICE. */
TAMIS_API tamis_status tamis_image_create_on_device(tamis_ctx *ctx, int index, tamis_format format,
                                                    int32_t w, int32_t h, tamis_image *out);

/* As tamis_image_create(), in host memory that devices copy from and to at full speed (pinned).
 * Such memory is scarce: use it for images that are filled again and again.
 * Errors: ARGUMENT, MEMORY, LIMIT, DEVICE. */
TAMIS_API tamis_status tamis_image_create_pinned(tamis_ctx *ctx, tamis_format format, int32_t w,
                                                 int32_t h, tamis_image *out);

/* Copies src into dst, of the same format and size: one of them is in host memory, the other in a
 * device's. Strides are free, but rows of dst may not overlap. What was enqueued on the device's
 * default stream before is waited for, other streams are not; when it returns dst is complete.
 * Errors: ARGUMENT, MEMORY, DEVICE. Thread-safe for distinct images. */
TAMIS_API tamis_status tamis_image_transfer(tamis_ctx *ctx, const tamis_image *src,
                                            const tamis_image *dst);

/* Copies src into dst, both in the memory of one device, of the same size, type and number of
 * channels: planes may become pixels side by side and the other way round, and samples of U16 are
 * shifted right by shift bits, 0 .. 15 (0 for other types). They may not share memory, nor may rows
 * of dst overlap. This is what frames of hardware decoders need. What was enqueued on the device's
 * default stream before is waited for; when it returns dst is complete. Errors: ARGUMENT, DEVICE.
 * Thread-safe for distinct images. */
TAMIS_API tamis_status tamis_image_rearrange(tamis_ctx *ctx, const tamis_image *src,
                                             const tamis_image *dst, int shift);

#ifdef __cplusplus
}
#endif

#endif
