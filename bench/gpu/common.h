/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of this folder share: options, pictures, clocks and the record of a run. */
#ifndef TAMIS_BENCH_GPU_COMMON_H
#define TAMIS_BENCH_GPU_COMMON_H

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rows.h"

namespace bench
{

inline void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}

/* ---- options */

struct Options {
    std::vector<std::string> filters;
    std::string json;
    bool quick = false;
};

inline Options parse_options(int argc, char **argv)
{
    Options o;
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        if (word == "--quick")
            o.quick = true;
        else if (word == "--filter" && i + 1 < argc)
            o.filters.push_back(argv[++i]);
        else if (word == "--json" && i + 1 < argc)
            o.json = argv[++i];
        else {
            fprintf(stderr, "usage: %s [--filter SUBSTRING]... [--json FILE] [--quick]\n", argv[0]);
            exit(2);
        }
    }
    return o;
}

inline bool wanted(const Options &o, const Row &row)
{
    bool named = o.filters.empty();
    for (const std::string &filter : o.filters)
        named = named || row.name.find(filter) != std::string::npos;
    return (row.quick || !o.quick) && named;
}

/* ---- pictures: waves with noise of sigma 25 levels, since some filters' cost depends on content
 */

inline double noise(uint32_t &state)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        state = state * 1664525u + 1013904223u;
        sum += (state >> 8) / 16777216.0 - 0.5;
    }
    return sum * 25 / std::sqrt(4 / 12.0);
}

inline void store(char *to, Type type, double level)
{
    level = std::min(std::max(level, 0.0), 255.0);
    if (type == U8) {
        *(uint8_t *)to = (uint8_t)std::lrint(level);
    } else if (type == U16 || type == S16) {
        uint16_t v = (uint16_t)std::lrint(type == U16 ? level * 257 : level * 128);
        memcpy(to, &v, 2);
    } else {
        float v = (float)(level / 255);
        memcpy(to, &v, 4);
    }
}

enum { TILE = 1024 };

/* A square of TILE pixels, made once for each type and number of channels. */
inline const std::vector<char> &tile(Type type, int channels)
{
    static std::map<std::pair<int, int>, std::vector<char>> tiles;
    std::vector<char> &t = tiles[{(int)type, channels}];
    if (!t.empty())
        return t;
    size_t size = type_sizes[type];
    t.resize(size * TILE * TILE * (size_t)channels);
    uint32_t state = 1;
    char *to = t.data();
    const double turn = 2 * 3.14159265358979 / TILE; /* tiles fit together */
    for (int y = 0; y < TILE; y++)
        for (int x = 0; x < TILE; x++)
            for (int c = 0; c < channels; c++, to += size) {
                double wave = std::sin(turn * (3 * x + 11 * c)) * std::cos(turn * 4 * y);
                double edge = (x / 90 + y / 70) % 5 == 0 ? 40 : 0;
                store(to, type, 118 + 60 * wave + edge + noise(state));
            }
    return t;
}

inline void fill(void *data, size_t pitch, int w, int h, Type type, int channels)
{
    const std::vector<char> &t = tile(type, channels);
    size_t pixel = type_sizes[type] * (size_t)channels;
    for (int y = 0; y < h; y += TILE)
        for (int x = 0; x < w; x += TILE) {
            size_t bytes = pixel * (size_t)std::min<int>(TILE, w - x);
            char *to = (char *)data + (size_t)y * pitch + (size_t)x * pixel;
            must(cudaMemcpy2D(to, pitch, t.data(), pixel * TILE, bytes,
                              (size_t)std::min<int>(TILE, h - y), cudaMemcpyHostToDevice),
                 "cannot fill a picture");
        }
}

/* Pairs of buffers to take in turns, so that several times the L2 cache is touched. */
inline int rotation(size_t bytes_of_a_pair)
{
    const size_t touched = 400u << 20;
    return (int)std::min<size_t>(
        64, std::max<size_t>(1, (touched + bytes_of_a_pair - 1) / bytes_of_a_pair));
}

/* ---- clocks */

struct Times {
    double min = 0, median = 0; /* ms */
    double host = 0;            /* median ms of the host to enqueue a launch; of gated ones */
};

inline Times times_of(std::vector<double> ms)
{
    std::sort(ms.begin(), ms.end());
    return {ms.front(), ms[ms.size() / 2], 0};
}

/* Holds a stream up while work is enqueued, so that the device never waits for the host. Calls that
 * themselves wait for the stream end it. */
class Gate
{
  public:
    void close(cudaStream_t stream)
    {
        opened = false;
        must(cudaLaunchHostFunc(stream, hold, this), "host function");
    }
    void open()
    {
        opened = true;
    }

  private:
    static void hold(void *user)
    {
        auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (!((Gate *)user)->opened && std::chrono::steady_clock::now() < end)
            ;
    }
    std::atomic<bool> opened{true};
};

class Clock
{
  public:
    explicit Clock(cudaStream_t stream, bool gated) : stream(stream), gated(gated)
    {
        must(cudaEventCreate(&from), "event");
        must(cudaEventCreate(&to), "event");
    }
    ~Clock()
    {
        cudaEventDestroy(from);
        cudaEventDestroy(to);
    }
    /* Milliseconds of `count` launches in a row, each. */
    template <class F> double once(int count, F launch)
    {
        float ms = 0;
        if (gated)
            gate.close(stream);
        must(cudaEventRecord(from, stream), "event");
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < count; i++)
            launch();
        std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
        host = spent.count() / count;
        must(cudaEventRecord(to, stream), "event");
        gate.open();
        must(cudaEventSynchronize(to), "the device failed");
        must(cudaEventElapsedTime(&ms, from, to), "event");
        return (double)ms / count;
    }
    double host = 0; /* milliseconds to enqueue each */

  private:
    cudaStream_t stream;
    bool gated;
    Gate gate;
    cudaEvent_t from, to;
};

/* The median of at least 7 and at most 60 measurements, of 1 ms or some launches each, for
 * some seconds: of the device's work alone, or with what it waits for the host. */
template <class F> Times measure(cudaStream_t stream, double seconds, F launch, bool gated = true)
{
    Clock clock(stream, gated);
    clock.once(3, launch);
    double first = clock.once(1, launch);
    int least = first < 2 ? 4 : 1; /* else the beginning and the end would count */
    int count = std::max(least, (int)std::min(64.0, 1 / std::max(first, 1e-3)));
    std::vector<double> ms, host;
    auto start = std::chrono::steady_clock::now();
    double spent = 0;
    while (ms.size() < 3 ||
           (ms.size() < 60 && (ms.size() < 7 || spent < seconds) && spent < 10 * seconds)) {
        ms.push_back(clock.once(count, launch));
        host.push_back(clock.host);
        spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    Times t = times_of(ms);
    t.host = times_of(host).median;
    return t;
}

/* Bytes read and written per second by the device's own copy. */
inline double copy_rate(cudaStream_t stream)
{
    const size_t size = 1u << 30;
    void *a, *b;
    must(cudaMalloc(&a, size), "1 GiB");
    must(cudaMalloc(&b, size), "1 GiB");
    must(cudaMemset(a, 1, size), "1 GiB");
    Times t = measure(stream, 0.1,
                      [&] { cudaMemcpyAsync(b, a, size, cudaMemcpyDeviceToDevice, stream); });
    cudaFree(a);
    cudaFree(b);
    return 2.0 * (double)size / t.median * 1e3;
}

/* ---- the record */

inline std::string quoted(const std::string &text)
{
    std::string out = "\"";
    for (char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += (unsigned char)c < ' ' ? ' ' : c;
    }
    return out + "\"";
}

inline std::string number(double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", v);
    return text;
}

/* Facts of a run and of its rows, a line a row, as those of bench/peers. */
class Record
{
  public:
    Record(const std::string &who, int argc, char **argv)
    {
        cudaDeviceProp p;
        int driver = 0, runtime = 0;
        must(cudaGetDeviceProperties(&p, 0), "no device");
        must(cudaDriverGetVersion(&driver), "driver");
        must(cudaRuntimeGetVersion(&runtime), "runtime");
        std::string command = argv[0];
        for (int i = 1; i < argc; i++)
            command += std::string(" ") + argv[i];
        head = "{\"schema_version\": 1, \"command\": " + quoted(command) +
               ", \"who\": " + quoted(who) + ", \"machine\": {\"gpu\": " + quoted(p.name) +
               ", \"compute\": \"" + std::to_string(p.major) + "." + std::to_string(p.minor) +
               "\", \"driver\": " + std::to_string(driver) +
               ", \"runtime\": " + std::to_string(runtime) + "}";
        printf("%s on %s\n", who.c_str(), p.name);
    }
    void fact(const std::string &key, double value)
    {
        head += ", " + quoted(key) + ": " + number(value);
    }
    /* facts: more members, each with a comma before it. */
    void row(const Row &r, const std::string &facts)
    {
        if (!rows.empty())
            rows += ",\n";
        rows += "  {\"row\": " + quoted(r.name) + ", \"image\": \"" + type_names[r.type] + "x" +
                std::to_string(r.channels) + " " + std::to_string(r.w) + "x" + std::to_string(r.h) +
                "\", \"target\": " + number(r.target) + facts + "}";
    }
    int write(const std::string &path) const
    {
        if (path.empty())
            return 0;
        FILE *file = fopen(path.c_str(), "w");
        if (!file || fprintf(file, "%s, \"rows\": [\n%s\n]}\n", head.c_str(), rows.c_str()) < 0 ||
            fclose(file) != 0) {
            perror(path.c_str());
            return 1;
        }
        return 0;
    }

  private:
    std::string head, rows;
};

} // namespace bench

#endif
