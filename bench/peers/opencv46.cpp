// SPDX-License-Identifier: Apache-2.0
// The distribution's OpenCV as a peer.
#include <cstring>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/ocl.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "peer.h"

namespace
{

struct Peer {
    std::string filter;
    int ksize;
    double sigma, sigma_color;
    int interp;
    cv::Mat kernel, matrix, src, dst;
    cv::Mat dx, dy, ax, ay; // of sobel
};

// lanczos3: the nearest it has.
int interp_of(const char *name)
{
    return !strcmp(name, "cubic")      ? cv::INTER_CUBIC
           : !strcmp(name, "area")     ? cv::INTER_AREA
           : !strcmp(name, "lanczos3") ? cv::INTER_LANCZOS4
                                       : cv::INTER_LINEAR;
}

int depth_of(const char *type)
{
    return !strcmp(type, "u8") ? CV_8U : !strcmp(type, "u16") ? CV_16U : CV_32F;
}

// Magnitude by the calls that it takes.
void sobel(Peer &p)
{
    int depth = p.src.depth() == CV_8U ? CV_16S : CV_32F;
    cv::Sobel(p.src, p.dx, depth, 1, 0, p.ksize);
    cv::Sobel(p.src, p.dy, depth, 0, 1, p.ksize);
    if (depth == CV_32F) {
        cv::magnitude(p.dx, p.dy, p.dst);
        return;
    }
    cv::convertScaleAbs(p.dx, p.ax);
    cv::convertScaleAbs(p.dy, p.ay);
    cv::add(p.ax, p.ay, p.dst);
}

void filter(Peer &p)
{
    if (p.filter == "gaussian")
        cv::GaussianBlur(p.src, p.dst, cv::Size(p.ksize, p.ksize), p.sigma);
    else if (p.filter == "box")
        cv::blur(p.src, p.dst, cv::Size(p.ksize, p.ksize));
    else if (p.filter == "convolve")
        cv::filter2D(p.src, p.dst, -1, p.kernel);
    else if (p.filter == "sobel")
        sobel(p);
    else if (p.filter == "canny")
        cv::Canny(p.src, p.dst, p.sigma_color, 3 * p.sigma_color, p.ksize);
    else if (p.filter == "median")
        cv::medianBlur(p.src, p.dst, p.ksize);
    else if (p.filter == "rotate")
        cv::warpAffine(p.src, p.dst, p.matrix.rowRange(0, 2), p.dst.size(), p.interp);
    else if (p.filter == "perspective")
        cv::warpPerspective(p.src, p.dst, p.matrix, p.dst.size(), p.interp);
    else if (p.filter == "resize")
        cv::resize(p.src, p.dst, p.dst.size(), 0, 0, p.interp);
    else
        cv::bilateralFilter(p.src, p.dst, p.ksize, p.sigma_color, p.sigma);
}

bool has(const peer_job &job)
{
    bool u8 = !strcmp(job.type, "u8");
    if (!strcmp(job.filter, "median"))
        return u8 || job.ksize <= 5;
    if (!strcmp(job.filter, "bilateral"))
        return (u8 || !strcmp(job.type, "f32")) && (job.channels == 1 || job.channels == 3);
    return !strcmp(job.filter, "gaussian") || !strcmp(job.filter, "box") ||
           !strcmp(job.filter, "convolve") || !strcmp(job.filter, "sobel") ||
           (u8 && !strcmp(job.filter, "canny")) || !strcmp(job.filter, "rotate") ||
           !strcmp(job.filter, "perspective") || !strcmp(job.filter, "resize");
}

} // namespace

const char *peer_version(void)
{
    static const std::string text = "OpenCV " + cv::getVersionString();
    return text.c_str();
}

void *peer_open(const peer_job *job, const void *src)
{
    if (!has(*job))
        return nullptr;
    try {
        cv::setNumThreads(job->threads);
        cv::ocl::setUseOpenCL(false);
        int type = CV_MAKETYPE(depth_of(job->type), job->channels);
        auto *p = new Peer{job->filter,
                           job->ksize,
                           job->sigma,
                           job->sigma_color,
                           interp_of(job->interp),
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {}};
        cv::Mat(job->h, job->w, type, const_cast<void *>(src)).copyTo(p->src);
        if (p->filter == "convolve")
            cv::Mat(job->ksize, job->ksize, CV_32F, const_cast<float *>(job->kernel))
                .copyTo(p->kernel);
        cv::Mat(3, 3, CV_64F, const_cast<double *>(job->matrix)).copyTo(p->matrix);
        p->dst.create(job->result_h, job->result_w, type);
        return p;
    } catch (const std::exception &) {
        return nullptr;
    }
}

int peer_run(void *peer)
{
    try {
        filter(*static_cast<Peer *>(peer));
        return 0;
    } catch (const std::exception &) {
        return 1;
    }
}

int peer_result(void *peer, void *dst)
{
    const cv::Mat &m = static_cast<Peer *>(peer)->dst;
    if (!m.isContinuous())
        return 1;
    memcpy(dst, m.data, m.total() * m.elemSize());
    return 0;
}

void peer_close(void *peer)
{
    delete static_cast<Peer *>(peer);
}
