/* SPDX-License-Identifier: Apache-2.0 */
/* Frames through a tamis_stream, for gpu_bench. */
#ifndef TAMIS_BENCH_GPU_FRAMES_H
#define TAMIS_BENCH_GPU_FRAMES_H

#include "chains.h"

namespace bench
{

/* ---- frames from host memory and back */

/* Bytes per second of one direction, from pinned memory. */
inline double transfer_rate(const Bench &b, const tamis_image &host, const Image &device, bool up)
{
    size_t size = (size_t)host.stride[0] * (size_t)host.h;
    Times t = measure(b.stream, 0.05, [&] {
        cudaMemcpyAsync(up ? device.image.data[0] : host.data[0],
                        up ? host.data[0] : device.image.data[0], size, cudaMemcpyDefault,
                        b.stream);
    });
    return (double)size / t.median * 1e3;
}

/* Bytes per second of each direction with both at work. */
inline double transfer_rate_both(const tamis_image &host, const tamis_image &host2,
                                 const Image &device, const Image &device2)
{
    enum { COPIES = 40 };
    size_t size = (size_t)host.stride[0] * (size_t)host.h;
    cudaStream_t streams[2];
    for (cudaStream_t &s : streams)
        must(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < COPIES; i++) {
        cudaMemcpyAsync(device.image.data[0], host.data[0], size, cudaMemcpyDefault, streams[0]);
        cudaMemcpyAsync(host2.data[0], device2.image.data[0], size, cudaMemcpyDefault, streams[1]);
    }
    for (cudaStream_t s : streams) {
        must(cudaStreamSynchronize(s), "copies");
        cudaStreamDestroy(s);
    }
    std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return (double)size * COPIES / spent.count();
}

typedef tamis_status (*Create)(tamis_ctx *, tamis_format, int32_t, int32_t, tamis_image *);

/* In some memory, filled so that pages are there. */
struct Pair {
    tamis_image src = {}, dst = {};
    Pair(const Bench &b, const Row &row, const Plan &plan, Create create)
    {
        require(b, create(b.ctx, format_of(row), row.w, row.h, &src));
        require(b, create(b.ctx, plan.format, plan.w, plan.h, &dst));
        const char *from = tile(row.type, row.channels).data();
        for (int y = 0; y < row.h; y++)
            write_row(src, y, from + 977 * (y % 900), (size_t)row.w);
        for (int y = 0; y < plan.h; y++)
            write_row(dst, y, from, (size_t)bytes_of(plan.format, plan.w, 1));
    }
    ~Pair()
    {
        tamis_image_unref(&src);
        tamis_image_unref(&dst);
    }
    Pair(const Pair &) = delete;

  private:
    static void write_row(const tamis_image &image, int y, const char *from, size_t bytes)
    {
        must(cudaMemcpy(tamis_image_row(&image, 0, y), from, bytes, cudaMemcpyDefault), "a row");
    }
};

typedef std::vector<std::unique_ptr<Pair>> Pairs;

inline Pairs make_pairs(const Bench &b, const Row &row, const Plan &plan, Create create, int count)
{
    Pairs pairs;
    for (int i = 0; i < count; i++)
        pairs.emplace_back(new Pair(b, row, plan, create));
    return pairs;
}

inline void take(const Bench &b, tamis_stream *stream)
{
    tamis_stream_result result;
    require(b, tamis_stream_wait(stream, -1, &result));
    require(b, result.status);
}

/* Milliseconds for a frame, of so many through a stream. */
inline double time_frames_once(const Bench &b, tamis_stream *stream, const Pairs &pairs, int frames)
{
    size_t count = pairs.size();
    auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < (size_t)frames; i++) {
        if (i >= count)
            take(b, stream);
        const Pair &p = *pairs[i % count];
        require(b, tamis_stream_submit(stream, &p.src, &p.dst, nullptr, 0));
    }
    for (size_t i = 0; i < std::min(count, (size_t)frames); i++)
        take(b, stream);
    std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    return spent.count() / frames;
}

struct Stream {
    tamis_stream *stream = nullptr;
    Stream(const Bench &b, const Plan &plan)
    {
        require(b, tamis_stream_create(plan.plan, nullptr, &stream));
    }
    ~Stream()
    {
        tamis_stream_free(&stream);
    }
    Stream(const Stream &) = delete;
};

inline Times time_frames_through(const Bench &b, const Row &row, const Plan &plan, Create create)
{
    Pairs pairs; /* which outlive the stream */
    Stream stream(b, plan);
    std::vector<double> ms;
    pairs = make_pairs(b, row, plan, create, tamis_stream_depth(stream.stream) + 2);
    time_frames_once(b, stream.stream, pairs, 50);
    for (int round = 0; round < 5; round++)
        ms.push_back(time_frames_once(b, stream.stream, pairs, 300));
    return times_of(ms);
}

inline Result time_stream(const Bench &b, const Row &row)
{
    Plan plan(b, row.chain, format_of(row), row.w, row.h);
    Image device(b, format_of(row), row.w, row.h, false);
    Image device2(b, format_of(row), row.w, row.h, false);
    Pair pair(b, row, plan, tamis_image_create_pinned);
    double up = transfer_rate(b, pair.src, device, true);
    double down = transfer_rate(b, pair.src, device, false);
    double both = transfer_rate_both(pair.src, pair.dst, device, device2);
    Result r = finish(plan, row, time_frames_through(b, row, plan, tamis_image_create_pinned), 0);
    Times ordinary = time_frames_through(b, row, plan, tamis_image_create);
    r.bytes = 0; /* they go another way than the floor's */
    r.target = row.share * std::min(up, down) / bytes_of(format_of(row), 1, 1) * 1e-9;
    char note[160];
    snprintf(
        note, sizeof note,
        "tamis_stream; up %.1f, down %.1f, both at once %.1f GB/s; from ordinary memory %.4f ms; "
        "target: 85 %% of the slower",
        up * 1e-9, down * 1e-9, both * 1e-9, ordinary.median);
    r.note = note;
    return r;
}

/* ---- frames again and again, replayed and launched anew */

inline tamis_status create_there(tamis_ctx *ctx, tamis_format format, int32_t w, int32_t h,
                                 tamis_image *out)
{
    return tamis_image_create_on_device(ctx, 0, format, w, h, out);
}

/* Whether all pairs, whose sources are alike, have the result of a run by itself. */
inline bool same_bits(const Bench &b, const Row &row, const Plan &plan, const Pairs &pairs,
                      Create create)
{
    Pair alone(b, row, plan, create);
    size_t line = (size_t)bytes_of(plan.format, plan.w, 1), size = line * (size_t)plan.h;
    std::vector<char> want(size), have(size);
    auto read = [&](const tamis_image &image, std::vector<char> &out) {
        must(cudaMemcpy2D(out.data(), line, image.data[0], (size_t)image.stride[0], line,
                          (size_t)plan.h, cudaMemcpyDefault),
             "a result");
    };
    require(b, tamis_plan_run(plan.plan, &alone.src, &alone.dst, nullptr));
    read(alone.dst, want);
    bool same = true;
    for (const auto &pair : pairs) {
        read(pair->dst, have);
        same = same && want == have;
    }
    return same;
}

/* Streams that do so and that do not, in turns. */
struct Repeated {
    Times replayed, plain;
    bool same = true;
};

inline Repeated time_repeated(const Bench &b, const Row &row, const Plan &plan, Create create)
{
    enum { ROUNDS = 9, FRAMES = 400 };
    Pairs pairs; /* which outlive the streams */
    Repeated r;
    Stream replays(b, plan);
    setenv("TAMIS_STREAM_PLAIN", "1", 1);
    Stream launches(b, plan);
    unsetenv("TAMIS_STREAM_PLAIN");
    std::vector<double> ms[2];
    pairs = make_pairs(b, row, plan, create, tamis_stream_depth(replays.stream) + 2);
    for (int round = -1; round < ROUNDS; round++)
        for (int k = 0; k < 2; k++) {
            tamis_stream *stream = k ? launches.stream : replays.stream;
            double t = time_frames_once(b, stream, pairs, FRAMES);
            if (round >= 0)
                ms[k].push_back(t);
            else
                r.same = r.same && same_bits(b, row, plan, pairs, create);
        }
    time_frames_once(b, replays.stream, pairs, FRAMES);
    r.same = r.same && same_bits(b, row, plan, pairs, create);
    r.replayed = times_of(ms[0]);
    r.plain = times_of(ms[1]);
    return r;
}

inline Result time_repeats(const Bench &b, const Row &row)
{
    Plan plan(b, row.chain, format_of(row), row.w, row.h);
    Repeated there = time_repeated(b, row, plan, create_there);
    Repeated host = time_repeated(b, row, plan, tamis_image_create_pinned);
    Result r = finish(plan, row, there.replayed, 0);
    char note[192];
    snprintf(note, sizeof note,
             "tamis_stream, device memory; launched anew %.4f ms; from pinned memory %.4f ms, "
             "launched anew %.4f ms; bits %s",
             there.plain.median, host.replayed.median, host.plain.median,
             there.same && host.same ? "same" : "DIFFER");
    r.note = note;
    return r;
}

} // namespace bench

#endif
