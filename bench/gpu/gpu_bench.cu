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
#include "chains.h"
#include "frames.h"

using namespace bench;

namespace
{

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

Result time_chain(const Bench &b, const Row &row, const std::string &chain, tamis_format format)
{
    Plan plan(b, chain, format, row.w, row.h);
    double in = bytes_of(format, row.w, row.h), out = bytes_of(plan.format, plan.w, plan.h);
    int count = rotation((size_t)(in + out));
    Images src = make_images(b, count, format, row.w, row.h, true);
    Images dst = make_images(b, count, plan.format, plan.w, plan.h, false);
    return finish(plan, row, time_plan(b, plan, src, dst, {}), 0);
}

/* With as many frames around the first as the chain asks for; the others take turns. */
Result time_frames(const Bench &b, const Row &row)
{
    Plan plan(b, row.chain, format_of(row), row.w, row.h);
    double bytes = bytes_of(format_of(row), row.w, row.h);
    int count = rotation((size_t)(2 * bytes));
    Images src = make_images(b, count, format_of(row), row.w, row.h, true);
    Images dst = make_images(b, count, plan.format, plan.w, plan.h, false);
    int around = tamis_plan_frames(plan.plan);
    std::vector<const tamis_image *> frames;
    for (int f = 0; f < 2 * around + 1; f++)
        frames.push_back(f == around ? nullptr : &src[(size_t)f % src.size()]->image);
    tamis_run_options run = {};
    run.frames = frames.data();
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
    case Kind::Repeat:
        return time_repeats(b, row);
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
