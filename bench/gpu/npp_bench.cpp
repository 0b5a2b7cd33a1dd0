/* SPDX-License-Identifier: Apache-2.0 */
/* npp_bench: NVIDIA's NPP on the rows of gpu_bench that it has, with the same pictures and clocks.
 *
 * Borders repeat the edge, the one kind that these functions know; their Gaussians up to 15 have
 * sigmas of their own. Both cost NPP nothing. Its median above 7x7 ends in an illegal memory access
 * (CUDA 13.0) and is left out. */
#include <npp.h>

#include <functional>
#include <memory>

#include "common.h"

using namespace bench;

namespace
{

const NppiBorderType BORDER = NPP_BORDER_REPLICATE;
const NppiPoint ORIGIN = {0, 0};

struct Buffer {
    void *data = nullptr;
    int pitch = 0;
    Buffer(size_t row, int h)
    {
        size_t step = (row + 511) / 512 * 512;
        must(cudaMalloc(&data, step * (size_t)h), "a picture");
        pitch = (int)step;
    }
    ~Buffer()
    {
        cudaFree(data);
    }
    Buffer(const Buffer &) = delete;
};

/* One call: its pictures and what else it needs. */
struct Call {
    NppStreamContext ctx;
    NppiSize size;
    NppiRect whole;
    const Npp8u *src;
    Npp8u *dst;
    int src_step, dst_step;
    Npp8u *scratch;
    const Npp32f *weights; /* on the device */
};

struct Peer {
    const char *row;  /* its name in rows.h */
    const char *what; /* the function */
    Type out;
    std::function<NppStatus(Call &)> run;
    std::function<size_t(const Call &)> scratch; /* bytes; may be empty */
};

const double TURN[2][3] = {{0.692820323, 0.4, -1000}, {-0.4, 0.692820323, 3500}};

Peer gauss(const char *row, NppiMaskSize mask)
{
    return {row, "FilterGaussBorder", U8,
            [mask](Call &c) {
                return nppiFilterGaussBorder_8u_C1R_Ctx(c.src, c.src_step, c.size, ORIGIN, c.dst,
                                                        c.dst_step, c.size, mask, BORDER, c.ctx);
            },
            nullptr};
}

Peer gauss_advanced(const char *row, int taps)
{
    return {row, "FilterGaussAdvancedBorder", U8,
            [taps](Call &c) {
                return nppiFilterGaussAdvancedBorder_8u_C1R_Ctx(c.src, c.src_step, c.size, ORIGIN,
                                                                c.dst, c.dst_step, c.size, taps,
                                                                c.weights, BORDER, c.ctx);
            },
            nullptr};
}

Peer box(const char *row, int k)
{
    return {row, "FilterBoxBorder", U8,
            [k](Call &c) {
                return nppiFilterBoxBorder_8u_C1R_Ctx(c.src, c.src_step, c.size, ORIGIN, c.dst,
                                                      c.dst_step, c.size, {k, k}, {k / 2, k / 2},
                                                      BORDER, c.ctx);
            },
            nullptr};
}

Peer median(const char *row, int k)
{
    return {
        row, "FilterMedianBorder", U8,
        [k](Call &c) {
            return nppiFilterMedianBorder_8u_C1R_Ctx(c.src, c.src_step, c.size, ORIGIN, c.dst,
                                                     c.dst_step, c.size, {k, k}, {k / 2, k / 2},
                                                     c.scratch, BORDER, c.ctx);
        },
        [k](const Call &c) {
            Npp32u bytes = 0;
            nppiFilterMedianBorderGetBufferSize_8u_C1R_Ctx(c.size, {k, k}, &bytes, BORDER, c.ctx);
            return (size_t)bytes;
        }};
}

Peer bilateral(const char *row, int k, bool color)
{
    auto *run = color ? nppiFilterBilateralGaussBorder_8u_C3R_Ctx
                      : nppiFilterBilateralGaussBorder_8u_C1R_Ctx;
    return {row, "FilterBilateralGaussBorder", U8,
            [k, run](Call &c) {
                return run(c.src, c.src_step, c.size, ORIGIN, c.dst, c.dst_step, c.size, k / 2, 1,
                           900.f, 9.f, BORDER, c.ctx);
            },
            nullptr};
}

Peer convolve(const char *row, int k, bool floats)
{
    return {row, floats ? "FilterBorder_32f" : "FilterBorder32f", floats ? F32 : U8,
            [k, floats](Call &c) {
                NppiSize window = {k, k};
                NppiPoint middle = {k / 2, k / 2};
                if (floats)
                    return nppiFilterBorder_32f_C1R_Ctx((const Npp32f *)c.src, c.src_step, c.size,
                                                        ORIGIN, (Npp32f *)c.dst, c.dst_step, c.size,
                                                        c.weights, window, middle, BORDER, c.ctx);
                return nppiFilterBorder32f_8u_C1R_Ctx(c.src, c.src_step, c.size, ORIGIN, c.dst,
                                                      c.dst_step, c.size, c.weights, window, middle,
                                                      BORDER, c.ctx);
            },
            nullptr};
}

Peer slopes(const char *row, decltype(&nppiGradientVectorSobelBorder_8u16s_C1R_Ctx) run,
            const char *what)
{
    return {row, what, S16,
            [run](Call &c) {
                return run(c.src, c.src_step, c.size, ORIGIN, nullptr, 0, nullptr, 0,
                           (Npp16s *)c.dst, c.dst_step, nullptr, 0, c.size, NPP_MASK_SIZE_3_X_3,
                           nppiNormL2, BORDER, c.ctx);
            },
            nullptr};
}

Peer warp(const char *row, bool color, int interpolation)
{
    auto *run = color ? nppiWarpAffine_8u_C3R_Ctx : nppiWarpAffine_8u_C1R_Ctx;
    return {row, "WarpAffine", U8,
            [run, interpolation](Call &c) {
                return run(c.src, c.size, c.src_step, c.whole, c.dst, c.dst_step, c.whole, TURN,
                           interpolation, c.ctx);
            },
            nullptr};
}

Peer resize(const char *row, int interpolation)
{
    return {row, "Resize", U8,
            [interpolation](Call &c) {
                NppiSize half = {c.size.width / 2, c.size.height / 2};
                NppiRect all = {0, 0, half.width, half.height};
                return nppiResize_8u_C1R_Ctx(c.src, c.src_step, c.size, c.whole, c.dst, c.dst_step,
                                             half, all, interpolation, c.ctx);
            },
            nullptr};
}

Peer canny()
{
    return {"canny", "FilterCannyBorder", U8,
            [](Call &c) {
                return nppiFilterCannyBorder_8u_C1R_Ctx(
                    c.src, c.src_step, c.size, ORIGIN, c.dst, c.dst_step, c.size, NPP_FILTER_SOBEL,
                    NPP_MASK_SIZE_3_X_3, 50, 150, nppiNormL2, BORDER, c.scratch, c.ctx);
            },
            [](const Call &c) {
                int bytes = 0;
                nppiFilterCannyBorderGetBufferSize(c.size, &bytes);
                return (size_t)bytes;
            }};
}

Peer simple(const char *row, const char *what, decltype(&nppiFilterSobelHorizBorder_8u_C1R_Ctx) run)
{
    return {row, what, U8,
            [run](Call &c) {
                return run(c.src, c.src_step, c.size, ORIGIN, c.dst, c.dst_step, c.size, BORDER,
                           c.ctx);
            },
            nullptr};
}

Peer laplacian()
{
    return {"laplacian", "FilterLaplaceBorder", U8,
            [](Call &c) {
                return nppiFilterLaplaceBorder_8u_C1R_Ctx(c.src, c.src_step, c.size, ORIGIN, c.dst,
                                                          c.dst_step, c.size, NPP_MASK_SIZE_3_X_3,
                                                          BORDER, c.ctx);
            },
            nullptr};
}

std::vector<Peer> all_peers()
{
    return {
        gauss("gaussian 3", NPP_MASK_SIZE_3_X_3),
        gauss("gaussian 5", NPP_MASK_SIZE_5_X_5),
        gauss_advanced("gaussian 5", 5),
        gauss("gaussian 5 4K", NPP_MASK_SIZE_5_X_5),
        gauss_advanced("gaussian 5 4K", 5),
        gauss("gaussian 9", NPP_MASK_SIZE_9_X_9),
        gauss("gaussian 11", NPP_MASK_SIZE_11_X_11),
        gauss_advanced("gaussian 11", 11),
        gauss("gaussian 15", NPP_MASK_SIZE_15_X_15),
        gauss_advanced("gaussian 31", 31),
        box("box 3", 3),
        box("box 5", 5),
        box("box 11", 11),
        box("box 31", 31),
        median("median 3", 3),
        median("median 3 4K", 3),
        median("median 5", 5),
        median("median 5 4K", 5),
        median("median 7", 7),
        median("median 7 4K", 7),
        bilateral("bilateral 5", 5, false),
        bilateral("bilateral 7", 7, false),
        bilateral("bilateral 11", 11, false),
        bilateral("bilateral 5 RGB", 5, true),
        bilateral("bilateral 7 RGB", 7, true),
        bilateral("bilateral 11 RGB", 11, true),
        simple("sharpen", "FilterSharpenBorder", nppiFilterSharpenBorder_8u_C1R_Ctx),
        laplacian(),
        convolve("convolve 7 u8", 7, false),
        convolve("convolve 7 f32", 7, true),
        convolve("convolve 31 f32", 31, true),
        slopes("sobel u8", nppiGradientVectorSobelBorder_8u16s_C1R_Ctx, "GradientVectorSobel"),
        slopes("sobel u8 to s16", nppiGradientVectorSobelBorder_8u16s_C1R_Ctx,
               "GradientVectorSobel"),
        slopes("prewitt u8", nppiGradientVectorPrewittBorder_8u16s_C1R_Ctx,
               "GradientVectorPrewitt"),
        slopes("scharr u8", nppiGradientVectorScharrBorder_8u16s_C1R_Ctx, "GradientVectorScharr"),
        simple("sobel dx u8", "FilterSobelVertBorder", nppiFilterSobelVertBorder_8u_C1R_Ctx),
        canny(),
        warp("affine linear", false, NPPI_INTER_LINEAR),
        warp("affine linear RGB", true, NPPI_INTER_LINEAR),
        warp("affine cubic", false, NPPI_INTER_CUBIC),
        resize("resize 1/2 linear", NPPI_INTER_LINEAR),
        resize("resize 1/2 area", NPPI_INTER_SUPER),
        resize("resize 1/2 lanczos3", NPPI_INTER_LANCZOS)};
}

NppStreamContext make_context(cudaStream_t stream)
{
    NppStreamContext c = {};
    cudaDeviceProp p;
    must(cudaGetDeviceProperties(&p, 0), "no device");
    c.hStream = stream;
    c.nMultiProcessorCount = p.multiProcessorCount;
    c.nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor;
    c.nMaxThreadsPerBlock = p.maxThreadsPerBlock;
    c.nSharedMemPerBlock = p.sharedMemPerBlock;
    c.nCudaDevAttrComputeCapabilityMajor = p.major;
    c.nCudaDevAttrComputeCapabilityMinor = p.minor;
    must(cudaStreamGetFlags(stream, &c.nStreamFlags), "stream");
    return c;
}

typedef std::vector<std::unique_ptr<Buffer>> Buffers;

void time_peer(Record &record, const Options &o, const Row &row, const Peer &peer, Call c)
{
    size_t pixel = type_sizes[row.type] * (size_t)row.channels;
    size_t out = type_sizes[peer.out] * (size_t)row.channels;
    int count = rotation((pixel + out) * (size_t)row.w * (size_t)row.h);
    Buffers src, dst;
    for (int i = 0; i < count; i++) {
        src.emplace_back(new Buffer(pixel * (size_t)row.w, row.h));
        dst.emplace_back(new Buffer(out * (size_t)row.w, row.h));
        fill(src[(size_t)i]->data, (size_t)src[(size_t)i]->pitch, row.w, row.h, row.type,
             row.channels);
    }
    c.size = {row.w, row.h};
    c.whole = {0, 0, row.w, row.h};
    size_t extra = peer.scratch ? peer.scratch(c) : 0;
    Buffer scratch(extra + 1024, 1);
    c.scratch = (Npp8u *)scratch.data;
    NppStatus status = NPP_SUCCESS;
    size_t turn = 0;
    Times t = measure(c.ctx.hStream, o.quick ? 0.08 : 0.2, [&] {
        size_t i = turn++ % src.size();
        c.src = (const Npp8u *)src[i]->data;
        c.dst = (Npp8u *)dst[i]->data;
        c.src_step = src[i]->pitch;
        c.dst_step = dst[i]->pitch;
        NppStatus now = peer.run(c);
        status = now < 0 ? now : status;
    });
    double scale = row.name.rfind("resize", 0) == 0 ? 0.25 : 1;
    double gpix = scale * row.w * row.h / t.median * 1e-6;
    if (status < 0) {
        printf("%-24s %-28s status %d\n", row.name.c_str(), peer.what, (int)status);
        return;
    }
    printf("%-24s %-28s %10.4f ms %10.2f Gpix/s\n", row.name.c_str(), peer.what, t.median, gpix);
    fflush(stdout);
    record.row(row, ", \"peer\": " + quoted(std::string("NPP ") + peer.what) +
                        ", \"times\": {\"min\": " + number(t.min) +
                        ", \"median\": " + number(t.median) + "}, \"gpix\": " + number(gpix));
}

int run(const Options &o, int argc, char **argv)
{
    cudaStream_t stream;
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    const NppLibraryVersion *v = nppGetLibVersion();
    char name[64];
    snprintf(name, sizeof name, "NPP %d.%d.%d", v->major, v->minor, v->build);
    Record record(name, argc, argv);
    Call c = {};
    c.ctx = make_context(stream);
    std::vector<float> weights(31 * 31, 1.0f / (31 * 31));
    void *on_device;
    must(cudaMalloc(&on_device, weights.size() * sizeof(float)), "weights");
    must(cudaMemcpy(on_device, weights.data(), weights.size() * sizeof(float),
                    cudaMemcpyHostToDevice),
         "weights");
    c.weights = (const Npp32f *)on_device;
    int code = 0;
    std::vector<Row> rows = all_rows();
    for (const Peer &peer : all_peers())
        for (const Row &row : rows)
            if (row.name == peer.row && wanted(o, row)) {
                time_peer(record, o, row, peer, c);
                code = record.write(o.json); /* a call that kills the context leaves the rest */
            }
    return code;
}

} // namespace

int main(int argc, char **argv)
{
    return run(parse_options(argc, argv), argc, argv);
}
