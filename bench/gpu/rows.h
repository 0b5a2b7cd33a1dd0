/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that are timed on a GPU: what runs, on which picture, and how fast is wanted. Peers find
 * their rows here by name; python_peers.py has the same names. */
#ifndef TAMIS_BENCH_GPU_ROWS_H
#define TAMIS_BENCH_GPU_ROWS_H

#include <string>
#include <vector>

namespace bench
{

enum Type { U8, U16, S16, F16, F32 }; /* as tamis_type */
static const char *const type_names[] = {"u8", "u16", "s16", "f16", "f32"};
static const size_t type_sizes[] = {1, 2, 2, 2, 4};

enum class Kind {
    Plain,  /* launches in a row, buffers taken in turns */
    Graph,  /* the same captured into a CUDA graph: small images */
    Chain,  /* a chain, and its filters one by one */
    Batch,  /* BATCH images in one call, captured into a graph */
    Stream, /* frames in host memory, through a tamis_stream */
    Repeat, /* frames through a tamis_stream, replayed and launched anew */
    Frames, /* a temporal filter with one frame each way */
    Guided  /* a filter with a map as its second input */
};

enum { BATCH = 4096, BIG_W = 15360, BIG_H = 8640, UHD_W = 3840, UHD_H = 2160 };

struct Row {
    std::string name, chain;
    Type type;
    int channels, w, h;
    double target; /* Gpix/s of the result; 0 = none */
    Kind kind;
    bool quick;
    double share; /* target as a share of another figure: see gpu_bench.cu */
};

struct Rows {
    std::vector<Row> list;

    void add(const std::string &name, const std::string &chain, double target, bool quick = false,
             Type type = U8, int channels = 1)
    {
        list.push_back({name, chain, type, channels, BIG_W, BIG_H, target, Kind::Plain, quick, 0});
    }
    Row &sized(int w, int h)
    {
        list.back().w = w;
        list.back().h = h;
        return list.back();
    }
};

/* Weights that are no product of a column and a row, as in bench/peers/rows.py. */
inline std::string kernel_chain(int k)
{
    std::string text = "convolve=kernel=";
    for (int y = 0; y < k; y++)
        for (int x = 0; x < k; x++) {
            text += std::to_string((7 * x * x + 5 * y * y + 3 * x * y + x) % 23 + 1);
            text += x < k - 1 ? "," : y < k - 1 ? ";" : "";
        }
    return text;
}

inline void add_smooth(Rows &r)
{
    static const struct {
        int k;
        const char *sigma;
        double target;
    } gaussians[] = {{3, "0.8", 1400}, {5, "1.1", 1400}, {9, "1.4", 1200}, {11, "1.5", 1000},
                     {15, "2.5", 900}, {31, "5", 600},   {255, "42", 300}};
    for (const auto &g : gaussians) {
        std::string k = std::to_string(g.k);
        r.add("gaussian " + k, "gaussian=sigma=" + std::string(g.sigma) + ":ksize=" + k, g.target,
              g.k == 5 || g.k == 31);
    }
    r.add("gaussian 5 RGB", "gaussian=sigma=1.1:ksize=5", 0, false, U8, 3);
    r.add("gaussian 5 u16", "gaussian=sigma=1.1:ksize=5", 0, false, U16);
    r.add("gaussian 5 f32", "gaussian=sigma=1.1:ksize=5", 0, false, F32);
    r.add("gaussian 5 4K", "gaussian=sigma=1.1:ksize=5", 0);
    r.sized(UHD_W, UHD_H);
    for (int k : {3, 5, 11, 31, 101})
        r.add("box " + std::to_string(k), "box=ksize=" + std::to_string(k), 1300, k == 31);
    r.add("box 5 RGB", "box=ksize=5", 0, false, U8, 3);
    r.add("sharpen", "sharpen", 1300, true);
    r.add("unsharp 5", "unsharp=sigma=1", 1300);
    r.add("laplacian", "laplacian", 1300);
    r.add("convolve 7 u8", kernel_chain(7), 0);
    r.add("convolve 7 f32", kernel_chain(7), 350, true, F32);
    r.add("convolve 31 f32", kernel_chain(31), 30, false, F32);
}

inline void add_ranks(Rows &r)
{
    static const struct {
        int k;
        double target;
    } medians[] = {{3, 1200}, {5, 250}, {7, 100}, {15, 15}, {31, 3}, {75, 1.5}};
    for (const auto &m : medians) {
        std::string k = std::to_string(m.k);
        r.add("median " + k, "median=ksize=" + k, m.target, m.k == 5);
        if (m.k <= 7) {
            r.add("median " + k + " 4K", "median=ksize=" + k, 0);
            r.sized(UHD_W, UHD_H);
        } else {
            r.sized(UHD_W, UHD_H);
        }
    }
    r.add("median 5 RGB", "median=ksize=5", 0, false, U8, 3);
    r.add("median 5 u16", "median=ksize=5", 0, false, U16);
    r.add("median 5 f32", "median=ksize=5", 0, false, F32);
}

inline void add_weighted(Rows &r)
{
    static const struct {
        int k;
        double gray, color;
    } bilaterals[] = {{5, 230, 90}, {7, 120, 50}, {11, 48, 20}};
    for (const auto &b : bilaterals) {
        std::string k = std::to_string(b.k);
        std::string chain = "bilateral=sigma_space=3:sigma_color=30:ksize=" + k;
        r.add("bilateral " + k, chain, b.gray, b.k == 7);
        r.add("bilateral " + k + " RGB", chain, b.color, false, U8, 3);
    }
    r.add("bilateral 7 of Cb and Cr", "bilateral=sigma_space=3:sigma_color=30:ksize=7", 0, false,
          U8, 2);
    const char *nlm = "nlmeans=h=20:patch=7:search=21";
    r.add("nlmeans 21/7 1024", nlm, 5.83, true); /* 0.18 ms */
    r.sized(1024, 1024);
    r.add("nlmeans 21/7 4096", nlm, 7);
    r.sized(4096, 4096);
    r.add("nlmeans 21/7 4096 RGB", nlm, 3.5, false, U8, 3);
    r.sized(4096, 4096);
    r.add("nlmeans 5/9, 3 frames, 4K", "nlmeans=h=20:patch=9:search=5:frames=1", 25);
    r.sized(UHD_W, UHD_H).kind = Kind::Frames;
    r.add("nlmeans 5/9, 5 frames, motion, 4K", "nlmeans=h=20:patch=9:search=5:frames=2:motion=32",
          0);
    r.sized(UHD_W, UHD_H).kind = Kind::Frames;
    r.add("nlmeans 5/9, 3 frames, 4K u16", "nlmeans=h=8%:patch=9:search=5:frames=1", 0, false, U16);
    r.sized(UHD_W, UHD_H).kind = Kind::Frames;
}

inline void add_edges(Rows &r)
{
    r.add("sobel u8", "sobel=type=u8", 1300, true);
    r.add("sobel u8 to s16", "sobel=type=s16", 0);
    r.add("sobel dx u8", "sobel=output=dx:type=u8", 0);
    r.add("prewitt u8", "prewitt=type=u8", 1300);
    r.add("scharr u8", "scharr=type=u8", 1300);
    r.add("canny", "canny=low=50:high=150:norm=l2", 200, true);
}

inline void add_geometry(Rows &r)
{
    std::string affine = "affine=angle=30:scale=0.8:border=constant:interp=";
    r.add("affine linear", affine + "linear", 700, true);
    r.add("affine linear RGB", affine + "linear", 350, false, U8, 3);
    r.add("affine cubic", affine + "cubic", 300);
    r.add("perspective linear",
          "perspective=matrix=0.9,0.2,10,-0.1,1.1,5,0.00001,0.000005,1:border=constant", 0);
    r.add("remap linear 4K", "remap", 0);
    r.sized(UHD_W, UHD_H).kind = Kind::Guided;
    r.add("resize 1/2 linear", "resize=scale=0.5:interp=linear:antialias=0", 600, true);
    r.add("resize 1/2 area", "resize=scale=0.5:interp=area", 0);
    r.add("resize 1/2 lanczos3", "resize=scale=0.5:interp=lanczos3", 0);
    r.add("color to gray RGB", "color=to=gray", 0, false, U8, 3);
}

inline void add_uses(Rows &r)
{
    static const char *const of_4 = "nlmeans=h=6:search=5:patch=3,unsharp,gaussian,sobel";
    static const char *const of_3 = "median=ksize=3,gaussian,sobel";
    r.add("chain of 4", of_4, 0, true);
    r.list.back().kind = Kind::Chain;
    r.add("chain of 4 4K", of_4, 0);
    r.sized(UHD_W, UHD_H).kind = Kind::Chain;
    r.add("chain of 3", of_3, 0);
    r.list.back().kind = Kind::Chain;
    r.add("chain of 3 4K", of_3, 0);
    r.sized(UHD_W, UHD_H).kind = Kind::Chain;
    for (int k : {3, 5, 31}) {
        r.add("gaussian " + std::to_string(k) + " 1024, graph",
              "gaussian=ksize=" + std::to_string(k), 0, k == 5);
        r.sized(1024, 1024).kind = Kind::Graph;
    }
    static const char *const repeats[][2] = {{"gaussian 5 ", "gaussian=ksize=5"},
                                             {"chain of 4 ", of_4}};
    for (const auto &repeat : repeats)
        for (bool large : {false, true}) {
            r.add(repeat[0] + std::string(large ? "4K" : "1024") + ", stream", repeat[1], 0);
            r.sized(large ? UHD_W : 1024, large ? UHD_H : 1024).kind = Kind::Repeat;
        }
    static const char *const batches[][2] = {{"gaussian 5", "gaussian=sigma=1.1:ksize=5"},
                                             {"median 3", "median=ksize=3"},
                                             {"sobel u8", "sobel=type=u8"}};
    for (const auto &b : batches) {
        r.add(std::string(b[0]) + ", 4096 of 320x240", b[1], 0);
        r.sized(320, 240).kind = Kind::Batch;
        r.list.back().share = 0.6;
    }
    r.add("gaussian 5, 4K frames from host", "gaussian=sigma=1.1:ksize=5", 0);
    r.sized(UHD_W, UHD_H).kind = Kind::Stream;
    r.list.back().share = 0.85;
    r.add("gaussian 11, 4K frames from host", "gaussian=sigma=2:ksize=11", 0, true);
    r.sized(UHD_W, UHD_H).kind = Kind::Stream;
    r.list.back().share = 0.85;
}

inline std::vector<Row> all_rows()
{
    Rows r;
    add_smooth(r);
    add_ranks(r);
    add_weighted(r);
    add_edges(r);
    add_geometry(r);
    add_uses(r);
    return r.list;
}

} // namespace bench

#endif
