/* SPDX-License-Identifier: Apache-2.0 */
/* What FFmpeg asks of NVIDIA's driver before it decodes, for tests where there is none:
 * libcuda.so.1 with one device, whose memory is the process's, as that of the emulated runtime is.
 */
#include <stddef.h>

/* FFmpeg wants all of these to be there. */
#define NOTHING(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }

NOTHING(cuInit)
NOTHING(cuDeviceGetCount)
NOTHING(cuDeviceGetName)
NOTHING(cuDeviceComputeCapability)
NOTHING(cuCtxCreate_v2)
NOTHING(cuCtxSetLimit)
NOTHING(cuCtxPushCurrent_v2)
NOTHING(cuCtxPopCurrent_v2)
NOTHING(cuCtxDestroy_v2)
NOTHING(cuMemAlloc_v2)
NOTHING(cuMemAllocPitch_v2)
NOTHING(cuMemAllocManaged)
NOTHING(cuMemsetD8Async)
NOTHING(cuMemFree_v2)
NOTHING(cuMemcpy)
NOTHING(cuMemcpyAsync)
NOTHING(cuMemcpy2D_v2)
NOTHING(cuMemcpy2DAsync_v2)
NOTHING(cuMemcpyHtoD_v2)
NOTHING(cuMemcpyHtoDAsync_v2)
NOTHING(cuMemcpyDtoH_v2)
NOTHING(cuMemcpyDtoHAsync_v2)
NOTHING(cuMemcpyDtoD_v2)
NOTHING(cuMemcpyDtoDAsync_v2)
NOTHING(cuCtxGetDevice)
NOTHING(cuDevicePrimaryCtxSetFlags)
NOTHING(cuDevicePrimaryCtxGetState)
NOTHING(cuDevicePrimaryCtxReset)
NOTHING(cuStreamCreate)
NOTHING(cuStreamQuery)
NOTHING(cuStreamSynchronize)
NOTHING(cuStreamDestroy_v2)
NOTHING(cuStreamAddCallback)
NOTHING(cuEventCreate)
NOTHING(cuEventDestroy_v2)
NOTHING(cuEventSynchronize)
NOTHING(cuEventQuery)
NOTHING(cuEventRecord)
NOTHING(cuLaunchKernel)
NOTHING(cuLinkCreate)
NOTHING(cuLinkAddData)
NOTHING(cuLinkComplete)
NOTHING(cuLinkDestroy)
NOTHING(cuModuleLoadData)
NOTHING(cuModuleUnload)
NOTHING(cuModuleGetFunction)
NOTHING(cuModuleGetGlobal)
NOTHING(cuTexObjectCreate)
NOTHING(cuTexObjectDestroy)
NOTHING(cuGLGetDevices_v2)
NOTHING(cuGraphicsGLRegisterImage)
NOTHING(cuGraphicsUnregisterResource)
NOTHING(cuGraphicsMapResources)
NOTHING(cuGraphicsUnmapResources)
NOTHING(cuGraphicsSubResourceGetMappedArray)
NOTHING(cuGraphicsResourceGetMappedPointer_v2)
NOTHING(cuArray3DCreate_v2)
NOTHING(cuArrayDestroy)
NOTHING(cuDevicePrimaryCtxRelease)
NOTHING(cuDevicePrimaryCtxRelease_v2)

int cuDeviceGet(int *device, int index);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuGetErrorName(int error, const char **text);
int cuGetErrorString(int error, const char **text);

int cuDeviceGet(int *device, int index)
{
    *device = index;
    return index ? 101 : 0; /* CUDA_ERROR_INVALID_DEVICE */
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    static int any;
    (void)device;
    *context = &any;
    return 0;
}

/* The alignment of textures is what is asked for. */
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *value = 512;
    return 0;
}

int cuGetErrorName(int error, const char **text)
{
    (void)error;
    *text = "CUDA_ERROR_OF_A_TEST";
    return 0;
}

int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "as it was told to";
    return 0;
}
