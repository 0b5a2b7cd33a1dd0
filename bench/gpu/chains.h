/* SPDX-License-Identifier: Apache-2.0 */
/* What gpu_bench times: chains with their plans and pictures, and the lines it says of them. */
#ifndef TAMIS_BENCH_GPU_CHAINS_H
#define TAMIS_BENCH_GPU_CHAINS_H

#include <tamis/tamis.h>

#include <memory>

#include "common.h"

namespace bench
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

inline void require(const Bench &b, tamis_status status)
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

inline Images make_images(const Bench &b, int count, tamis_format format, int w, int h, bool filled)
{
    Images images;
    for (int i = 0; i < count; i++)
        images.emplace_back(new Image(b, format, w, h, filled));
    return images;
}

inline double bytes_of(tamis_format format, double w, double h)
{
    return w * h * format.channels * (double)tamis_type_size(format.type);
}

inline tamis_format format_of(const Row &row)
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

inline void report(Bench &b, Record &record, const Row &row, const Result &r)
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

inline double seconds_of(const Bench &b)
{
    return b.options.quick ? 0.08 : 0.25;
}

inline Result finish(const Plan &plan, const Row &row, Times times, double more_bytes)
{
    Result r;
    r.times = times;
    r.pixels = (double)plan.w * plan.h;
    r.bytes =
        bytes_of(format_of(row), row.w, row.h) + bytes_of(plan.format, plan.w, plan.h) + more_bytes;
    r.target = row.target;
    return r;
}

} // namespace bench

#endif
