/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_bench: times chains on pictures in device memory through the public interface.
 *
 *     gpu_bench [--filter SUBSTRING] [--json FILE] [--quick]
 *
 * Milliseconds are medians of CUDA events around launches on one stream, which the host enqueues
 * before the device begins; source and destination change from launch to launch, so that the L2
 * cache (60 MB) holds neither. The floor's share is the time that the bytes of source and result
 * would take the device's own copy. A chain that has no kernel for the device is named and left
 * out. */
#include <tamis/tamis.h>

#include <memory>

#include "common.h"

using namespace bench;

namespace
{

struct Bench {
    tamis_ctx *ctx = nullptr;
    cudaStream_t stream = nullptr;
    Options options;
    double copy = 0;                     /* bytes per second */
    std::map<std::string, double> gpixs; /* of plain rows, for shares */
};

/* Why a row is left out. */
struct Refused {
    std::string why;
};

void require(const Bench &b, tamis_status status)
{
    char text[512];
    if (status != TAMIS_OK)
        throw Refused{tamis_ctx_last_message(b.ctx, text, sizeof text)};
}

/* ---- chains and their pictures */

struct Graph {
    tamis_graph *graph = nullptr;
    Graph(const Bench &b, const std::string &text)
    {
        require(b, tamis_graph_parse(b.ctx, text.c_str(), &graph));
    }
    ~Graph()
    {
        tamis_graph_free(&graph);
    }
    Graph(const Graph &) = delete;
};

struct Plan {
    tamis_plan *plan = nullptr;
    tamis_format format; /* of the result */
    int32_t w = 0, h = 0;
    Plan(const Bench &b, const std::string &chain, tamis_format in, int w_in, int h_in,
         const tamis_format *guide = nullptr)
    {
        Graph graph(b, chain);
        tamis_plan_options options = {};
        options.guide = guide;
        require(b, tamis_plan_create(b.ctx, graph.graph, in, w_in, h_in, &options, &plan));
        format = tamis_plan_format(plan);
        tamis_plan_size(plan, &w, &h);
    }
    ~Plan()
    {
        tamis_plan_free(&plan);
    }
    Plan(const Plan &) = delete;
};

struct Image {
    tamis_image image = {};
    Image(const Bench &b, tamis_format format, int w, int h, bool filled)
    {
        require(b, tamis_image_create_on_device(b.ctx, 0, format, w, h, &image));
        if (filled)
            fill(image.data[0], (size_t)image.stride[0], w, h, (Type)format.type, format.channels);
    }
    ~Image()
    {
        tamis_image_unref(&image);
    }
    Image(const Image &) = delete;
};

typedef std::vector<std::unique_ptr<Image>> Images;

Images make_images(const Bench &b, int count, tamis_format format, int w, int h, bool filled)
{
    Images images;
    for (int i = 0; i < count; i++)
        images.emplace_back(new Image(b, format, w, h, filled));
    return images;
}

double bytes_of(tamis_format format, double w, double h)
{
    return w * h * format.channels * (double)tamis_type_size(format.type);
}

tamis_format format_of(const Row &row)
{
    return {(tamis_type)row.type, row.channels, TAMIS_PACKED, TAMIS_ALPHA_NONE};
}

/* ---- results */

struct Result {
    Times times;
    double pixels = 0, bytes = 0; /* of one launch */
    double target = 0;
    std::string note;
    double gpix() const
    {
        return pixels / times.median * 1e-6;
    }
};

void report(Bench &b, Record &record, const Row &row, const Result &r)
{
    double share = r.bytes ? r.bytes / b.copy * 1e3 / r.times.median : 0;
    char facts[512], goal[32] = "-", floor[16] = "-";
    if (r.target)
        snprintf(goal, sizeof goal, "%.4g %s", r.target, r.gpix() >= r.target ? "ok" : "NO");
    if (r.bytes)
        snprintf(floor, sizeof floor, "%.0f%%", 100 * share);
    printf("%-34s %-4sx%d %5dx%-5d %10.4f ms %10.2f Gpix/s  floor %5s  target %-12s %s\n",
           row.name.c_str(), type_names[row.type], row.channels, row.w, row.h, r.times.median,
           r.gpix(), floor, goal, r.note.c_str());
    fflush(stdout);
    snprintf(facts, sizeof facts,
             ", \"wanted\": %.6g, \"times\": {\"min\": %.6g, \"median\": %.6g, \"host\": %.6g}, "
             "\"gpix\": %.6g, "
             "\"floor_share\": %.4g",
             r.target, r.times.min, r.times.median, r.times.host, r.gpix(), share);
    record.row(row, ", \"chain\": " + quoted(row.chain.substr(0, 100)) + facts +
                        ", \"note\": " + quoted(r.note));
    b.gpixs[row.name] = r.gpix();
}

double seconds_of(const Bench &b)
{
    return b.options.quick ? 0.08 : 0.25;
}

/* ---- plain rows, and those with a second input or frames around */

Times time_plan(const Bench &b, const Plan &plan, const Images &src, const Images &dst,
                tamis_run_options run, bool gated = true)
{
    size_t turn = 0;
    bool failed = false;
    run.stream = b.stream;
    Times t = measure(
        b.stream, seconds_of(b),
        [&] {
            size_t i = turn++ % src.size();
            failed |= tamis_plan_run(plan.plan, &src[i]->image, &dst[i]->image, &run) != TAMIS_OK;
        },
        gated);
    if (failed)
        require(b, TAMIS_ERR_DEVICE);
    return t;
}

Result finish(const Plan &plan, const Row &row, Times times, double more_bytes)
{
    Result r;
    r.times = times;
    r.pixels = (double)plan.w * plan.h;
    r.bytes =
        bytes_of(format_of(row), row.w, row.h) + bytes_of(plan.format, plan.w, plan.h) + more_bytes;
    r.target = row.target;
    return r;
}

Result time_chain(const Bench &b, const Row &row, const std::string &chain, tamis_format format)
{
    Plan plan(b, chain, format, row.w, row.h);
    double in = bytes_of(format, row.w, row.h), out = bytes_of(plan.format, plan.w, plan.h);
    int count = rotation((size_t)(in + out));
    Images src = make_images(b, count, format, row.w, row.h, true);
    Images dst = make_images(b, count, plan.format, plan.w, plan.h, false);
    return finish(plan, row, time_plan(b, plan, src, dst, {}), 0);
}

Result time_frames(const Bench &b, const Row &row)
{
    Plan plan(b, row.chain, format_of(row), row.w, row.h);
    double bytes = bytes_of(format_of(row), row.w, row.h);
    int count = rotation((size_t)(2 * bytes));
    Images src = make_images(b, count, format_of(row), row.w, row.h, true);
    Images dst = make_images(b, count, plan.format, plan.w, plan.h, false);
    const tamis_image *frames[] = {&src[0]->image, nullptr, &src.back()->image};
    tamis_run_options run = {};
    run.frames = frames;
    return finish(plan, row, time_plan(b, plan, src, dst, run), 2 * bytes);
}

/* A map of waves: places in the picture, x and y. */
void fill_map(const Image &map)
{
    std::vector<float> line(2 * (size_t)map.image.w);
    for (int y = 0; y < map.image.h; y++) {
        for (int x = 0; x < map.image.w; x++) {
            line[2 * (size_t)x] = (float)(x + 9.3 * std::sin(0.011 * y));
            line[2 * (size_t)x + 1] = (float)(y + 7.7 * std::sin(0.007 * x));
        }
        must(cudaMemcpy(tamis_image_row(&map.image, 0, y), line.data(), line.size() * sizeof(float),
                        cudaMemcpyHostToDevice),
             "map");
    }
}

Result time_guided(const Bench &b, const Row &row)
{
    tamis_format guide = {TAMIS_F32, 2, TAMIS_PACKED, TAMIS_ALPHA_NONE};
    Plan plan(b, row.chain, format_of(row), row.w, row.h, &guide);
    Image map(b, guide, row.w, row.h, false);
    fill_map(map);
    Images src = make_images(b, 16, format_of(row), row.w, row.h, true);
    Images dst = make_images(b, 16, plan.format, plan.w, plan.h, false);
    tamis_run_options run = {};
    run.guide = &map.image;
    return finish(plan, row, time_plan(b, plan, src, dst, run), bytes_of(guide, row.w, row.h));
}

/* ---- a chain beside its filters one by one */

Result time_together(const Bench &b, const Row &row)
{
    Result whole = time_chain(b, row, row.chain, format_of(row));
    tamis_format format = format_of(row);
    double sum = 0;
    std::string rest = row.chain;
    while (!rest.empty()) {
        size_t end = std::min(rest.find(','), rest.size());
        std::string one = rest.substr(0, end);
        rest = end < rest.size() ? rest.substr(end + 1) : "";
        sum += time_chain(b, row, one, format).times.median;
        format = Plan(b, one, format, row.w, row.h).format;
    }
    char note[96];
    double ratio = whole.times.median / sum;
    snprintf(note, sizeof note, "%.2f of its filters alone, %.4f ms (target 0.6: %s)", ratio, sum,
             ratio <= 0.6 ? "ok" : "NO");
    whole.note = note;
    return whole;
}

/* ---- captured graphs */

class Captured
{
  public:
    template <class F> Captured(cudaStream_t stream, F launches) : stream(stream)
    {
        cudaGraph_t graph = nullptr;
        must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
        launches();
        must(cudaStreamEndCapture(stream, &graph), "the launches cannot be captured");
        must(cudaGraphInstantiate(&exec, graph, 0), "graph");
        cudaGraphDestroy(graph);
    }
    ~Captured()
    {
        cudaGraphExecDestroy(exec);
    }
    Captured(const Captured &) = delete;
    void launch()
    {
        must(cudaGraphLaunch(exec, stream), "graph");
    }

  private:
    cudaGraphExec_t exec = nullptr;
    cudaStream_t stream;
};

Result time_graph(const Bench &b, const Row &row)
{
    enum { LAUNCHES = 200 };
    Plan plan(b, row.chain, format_of(row), row.w, row.h);
    Images src = make_images(b, 8, format_of(row), row.w, row.h, true);
    Images dst = make_images(b, 8, plan.format, plan.w, plan.h, false);
    tamis_run_options run = {};
    run.stream = b.stream;
    Times plain = time_plan(b, plan, src, dst, {}, false);
    tamis_status status = TAMIS_OK;
    Captured captured(b.stream, [&] {
        for (size_t i = 0; i < LAUNCHES && status == TAMIS_OK; i++)
            status = tamis_plan_run(plan.plan, &src[i % 8]->image, &dst[i % 8]->image, &run);
    });
    require(b, status);
    Times t = measure(b.stream, seconds_of(b), [&] { captured.launch(); });
    Result r = finish(plan, row, {t.min / LAUNCHES, t.median / LAUNCHES, 0}, 0);
    char note[96];
    snprintf(note, sizeof note, "in the L2 cache; without a graph %.4f ms, the host's %.4f",
             plain.median, plain.host);
    r.note = note;
    return r;
}

/* ---- many small pictures */

/* All in one call, in one allocation; and what a call costs that checks each picture first. */
Result time_batch(const Bench &b, const Row &row)
{
    Plan plan(b, row.chain, format_of(row), row.w, row.h);
    Image src(b, format_of(row), row.w, row.h * BATCH, true);
    Image dst(b, plan.format, plan.w, plan.h * BATCH, false);
    std::vector<tamis_image> from(BATCH), to(BATCH);
    for (int i = 0; i < BATCH; i++) {
        tamis_image_view(b.ctx, &src.image, {0, i * row.h, row.w, row.h}, &from[(size_t)i]);
        tamis_image_view(b.ctx, &dst.image, {0, i * plan.h, plan.w, plan.h}, &to[(size_t)i]);
    }
    tamis_run_options run = {};
    run.stream = b.stream;
    tamis_status status = TAMIS_OK;
    auto call = [&] {
        if (status == TAMIS_OK)
            status = tamis_plan_run_many(plan.plan, from.data(), to.data(), BATCH, &run);
    };
    Captured captured(b.stream, call);
    require(b, status);
    Result r = finish(plan, row, measure(b.stream, seconds_of(b), [&] { captured.launch(); }), 0);
    Times plain = measure(b.stream, seconds_of(b), call, false);
    require(b, status);
    r.pixels *= BATCH;
    r.bytes *= BATCH;
    auto large = b.gpixs.find(row.name.substr(0, row.name.find(',')));
    r.target = large == b.gpixs.end() ? 0 : row.share * large->second;
    char note[96];
    snprintf(note, sizeof note,
             "one call; without a graph %.3f ms; target: 60 %% of the large rate", plain.median);
    r.note = note;
    return r;
}

/* ---- frames from host memory and back */

/* Bytes per second of one direction, from pinned memory. */
double transfer_rate(const Bench &b, const tamis_image &host, const Image &device, bool up)
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
double transfer_rate_both(const tamis_image &host, const tamis_image &host2, const Image &device,
                          const Image &device2)
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

struct HostPair {
    tamis_image src = {}, dst = {};
    HostPair(const Bench &b, const Row &row, const Plan &plan, Create create)
    {
        require(b, create(b.ctx, format_of(row), row.w, row.h, &src));
        require(b, create(b.ctx, plan.format, plan.w, plan.h, &dst));
        for (int y = 0; y < row.h; y++)
            memcpy(tamis_image_row(&src, 0, y),
                   tile(row.type, row.channels).data() + 977 * (y % 900), (size_t)row.w);
        for (int y = 0; y < plan.h; y++) /* so that its pages are there */
            memset(tamis_image_row(&dst, 0, y), 1, (size_t)plan.w);
    }
    ~HostPair()
    {
        tamis_image_unref(&src);
        tamis_image_unref(&dst);
    }
    HostPair(const HostPair &) = delete;
};

typedef std::vector<std::unique_ptr<HostPair>> HostPairs;

void take(const Bench &b, tamis_stream *stream)
{
    tamis_stream_result result;
    require(b, tamis_stream_wait(stream, -1, &result));
    require(b, result.status);
}

/* Milliseconds for a frame, of so many through a stream. */
double time_frames_once(const Bench &b, tamis_stream *stream, const HostPairs &pairs, int frames)
{
    size_t count = pairs.size();
    auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < (size_t)frames; i++) {
        if (i >= count)
            take(b, stream);
        const HostPair &p = *pairs[i % count];
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

Times time_frames_through(const Bench &b, const Row &row, const Plan &plan, Create create)
{
    HostPairs pairs; /* which outlive the stream */
    Stream stream(b, plan);
    std::vector<double> ms;
    for (int i = 0; i < tamis_stream_depth(stream.stream) + 2; i++)
        pairs.emplace_back(new HostPair(b, row, plan, create));
    time_frames_once(b, stream.stream, pairs, 50);
    for (int round = 0; round < 5; round++)
        ms.push_back(time_frames_once(b, stream.stream, pairs, 300));
    return times_of(ms);
}

Result time_stream(const Bench &b, const Row &row)
{
    Plan plan(b, row.chain, format_of(row), row.w, row.h);
    Image device(b, format_of(row), row.w, row.h, false);
    Image device2(b, format_of(row), row.w, row.h, false);
    HostPair pair(b, row, plan, tamis_image_create_pinned);
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

/* ---- all rows */

Result time_row(const Bench &b, const Row &row)
{
    switch (row.kind) {
    case Kind::Plain:
        break;
    case Kind::Graph:
        return time_graph(b, row);
    case Kind::Chain:
        return time_together(b, row);
    case Kind::Batch:
        return time_batch(b, row);
    case Kind::Stream:
        return time_stream(b, row);
    case Kind::Frames:
        return time_frames(b, row);
    case Kind::Guided:
        return time_guided(b, row);
    }
    return time_chain(b, row, row.chain, format_of(row));
}

void time_copy(Bench &b, Record &record)
{
    Row row = {"copy", "copy", U8, 1, BIG_W, BIG_H, 0, Kind::Plain, true, 0};
    if (!wanted(b.options, row))
        return;
    Images images = make_images(b, 4, format_of(row), row.w, row.h, true);
    size_t turn = 0, size = (size_t)row.w * (size_t)row.h;
    Result r;
    r.times = measure(b.stream, seconds_of(b), [&] {
        size_t i = turn++ % 4;
        cudaMemcpyAsync(images[i ^ 1]->image.data[0], images[i]->image.data[0], size,
                        cudaMemcpyDeviceToDevice, b.stream);
    });
    r.pixels = (double)size;
    r.bytes = 2 * r.pixels;
    r.note = "cudaMemcpyAsync";
    report(b, record, row, r);
}

void log_nothing_but_failures(void *, tamis_log_level level, const char *text)
{
    if (level == TAMIS_LOG_WARNING)
        fprintf(stderr, "%s\n", text);
}

int run(Bench &b, int argc, char **argv)
{
    tamis_ctx_options options = {};
    options.device = "cuda";
    options.log = log_nothing_but_failures;
    if (tamis_ctx_create(&options, &b.ctx) != TAMIS_OK) {
        fprintf(stderr, "gpu_bench: no device, or no module tamis_cuda.so beside libtamis.so\n");
        return 1;
    }
    Record record(std::string("tamis ") + tamis_version(), argc, argv);
    must(cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking), "stream");
    b.copy = copy_rate(b.stream);
    record.fact("copy_bytes_per_second", b.copy);
    printf("copy of 1 GiB: %.2f TB/s\n", b.copy * 1e-12);
    time_copy(b, record);
    for (const Row &row : all_rows()) {
        if (!wanted(b.options, row))
            continue;
        try {
            report(b, record, row, time_row(b, row));
        } catch (const Refused &refused) {
            printf("%-34s left out: %s\n", row.name.c_str(), refused.why.c_str());
            record.row(row, ", \"refused\": " + quoted(refused.why));
        }
    }
    cudaStreamDestroy(b.stream);
    tamis_ctx_free(&b.ctx);
    return record.write(b.options.json);
}

} // namespace

int main(int argc, char **argv)
{
    Bench b;
    b.options = parse_options(argc, argv);
    return run(b, argc, argv);
}
