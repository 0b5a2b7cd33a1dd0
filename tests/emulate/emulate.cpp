// SPDX-License-Identifier: Apache-2.0
// Fibers for the threads of a block.
#include "emulate.h"

#include <setjmp.h>
#include <stdio.h>
#include <ucontext.h>

#include <mutex>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATE_ASAN 1
#endif
#endif
#ifdef EMULATE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

// ---- fibers

namespace
{

enum { STACK = 256 * 1024, MAX_THREADS = 1024, WARP = 32 };
enum state { READY, AT_BLOCK, AT_WARP, DONE };

struct fiber {
    jmp_buf at;
    bool started;
    state where;
    unsigned mask; // of the lanes waited for
    uint3 index;
    int value; // given at a block's barrier
    uint64_t given[2];
    int turn; // which of `given` the next exchange uses
    unsigned char *stack;
    void *fake_stack;
};

struct block {
    const std::function<void()> *thread;
    std::vector<fiber> fibers;
    jmp_buf scheduler;
    ucontext_t main;
    int current, count;
    int any;
    const void *main_stack;
    size_t main_stack_size;

    ~block()
    {
        for (const fiber &f : fibers)
            free(f.stack);
    }
};

block b;
std::vector<unsigned char> shared;
std::mutex one_launch; // threads of the host take turns
unsigned warp_votes[MAX_THREADS / WARP];

void fail(const char *what)
{
    fprintf(stderr, "emulate: %s in thread %u,%u,%u of block %u,%u,%u\n", what, threadIdx.x,
            threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z);
    abort();
}

// Switches go by setjmp, which makes no system call; only a fiber's first start needs more.
void to_scheduler(bool leaving)
{
    fiber &f = b.fibers[(size_t)b.current];
    (void)f, (void)leaving;
#ifdef EMULATE_ASAN
    __sanitizer_start_switch_fiber(leaving ? nullptr : &f.fake_stack, b.main_stack,
                                   b.main_stack_size);
#endif
    if (leaving)
        _longjmp(b.scheduler, 1);
    if (!_setjmp(f.at))
        _longjmp(b.scheduler, 1);
#ifdef EMULATE_ASAN
    __sanitizer_finish_switch_fiber(b.fibers[(size_t)b.current].fake_stack, nullptr, nullptr);
#endif
}

void fiber_main()
{
#ifdef EMULATE_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &b.main_stack, &b.main_stack_size);
#endif
    (*b.thread)();
    b.fibers[(size_t)b.current].where = DONE;
    to_scheduler(true);
}

void resume(int i)
{
    fiber &f = b.fibers[(size_t)i];
    b.current = i;
    threadIdx = f.index;
#ifdef EMULATE_ASAN
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, f.stack, STACK);
#endif
    if (!_setjmp(b.scheduler)) {
        if (f.started)
            _longjmp(f.at, 1);
        f.started = true;
        ucontext_t context;
        getcontext(&context);
        context.uc_stack.ss_sp = f.stack;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, fiber_main, 0);
        setcontext(&context);
    }
#ifdef EMULATE_ASAN
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void wait_as(state where)
{
    b.fibers[(size_t)b.current].where = where;
    to_scheduler(false);
}

bool release_block()
{
    b.any = 0;
    for (int i = 0; i < b.count; i++) {
        const fiber &f = b.fibers[(size_t)i];
        if (f.where != AT_BLOCK && f.where != DONE)
            return false;
        if (f.where == AT_BLOCK)
            b.any |= f.value;
    }
    bool any = false;
    for (int i = 0; i < b.count; i++)
        if (b.fibers[(size_t)i].where == AT_BLOCK) {
            b.fibers[(size_t)i].where = READY;
            any = true;
        }
    return any;
}

bool release_warp(int first)
{
    unsigned waiting = 0, alive = 0;
    for (int l = 0; l < WARP && first + l < b.count; l++) {
        waiting |= b.fibers[(size_t)(first + l)].where == AT_WARP ? 1u << l : 0;
        alive |= b.fibers[(size_t)(first + l)].where != DONE ? 1u << l : 0;
    }
    bool any = false;
    for (int l = 0; l < WARP && first + l < b.count; l++) {
        fiber &f = b.fibers[(size_t)(first + l)];
        if (f.where != AT_WARP || (f.mask & alive & ~waiting))
            continue;
        // All lanes that it waits for are here: they go on together.
        unsigned votes = 0, mask = f.mask & alive;
        for (int m = 0; m < WARP && first + m < b.count; m++)
            if (mask >> m & 1)
                votes |= b.fibers[(size_t)(first + m)].value ? 1u << m : 0;
        warp_votes[first / WARP] = votes;
        for (int m = 0; m < WARP && first + m < b.count; m++)
            if (mask >> m & 1)
                b.fibers[(size_t)(first + m)].where = READY;
        any = true;
        break;
    }
    return any;
}

void run_block()
{
    int done = 0;
    for (int i = 0; i < b.count; i++) {
        fiber &f = b.fibers[(size_t)i];
        f.started = false;
        f.where = READY;
        f.turn = 0;
        f.index = {(unsigned)i % blockDim.x, (unsigned)i / blockDim.x % blockDim.y,
                   (unsigned)i / (blockDim.x * blockDim.y)};
    }
    while (done < b.count) {
        bool ran = false;
        // A warp goes on until its lanes all wait for the block: other warps see what it did.
        for (int first = 0; first < b.count; first += WARP) {
            for (bool again = true; again; again = release_warp(first)) {
                for (int i = first; i < first + WARP && i < b.count; i++) {
                    if (b.fibers[(size_t)i].where != READY)
                        continue;
                    resume(i);
                    ran = true;
                    done += b.fibers[(size_t)i].where == DONE;
                }
            }
        }
        if (!release_block() && !ran && done < b.count)
            fail("threads wait for each other for ever");
    }
}

} // namespace

unsigned char *emulate_shared_bytes()
{
    return shared.data();
}

void emulate_run(const emulate_work &work)
{
    std::lock_guard<std::mutex> lock(one_launch);
    dim3 grid = work.grid, threads = work.block;
    blockDim = threads;
    gridDim = grid;
    b.thread = &work.thread;
    b.count = (int)(threads.x * threads.y * threads.z);
    if (b.count < 1 || b.count > MAX_THREADS || grid.y > 65535 || grid.z > 65535 || !grid.x ||
        !grid.y || !grid.z)
        fail("a launch of an impossible size");
    while (b.fibers.size() < (size_t)b.count) {
        fiber f = {};
        f.stack = (unsigned char *)malloc(STACK);
        b.fibers.push_back(f);
    }
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                blockIdx = {x, y, z};
                shared.assign(work.shared, 0xcd); // as good as any other
                shared.shrink_to_fit();
                run_block();
            }
}

void __syncthreads()
{
    b.fibers[(size_t)b.current].value = 0;
    wait_as(AT_BLOCK);
}

int __syncthreads_or(int value)
{
    b.fibers[(size_t)b.current].value = value;
    wait_as(AT_BLOCK);
    int any = b.any;
    __syncthreads(); // nobody may begin another before all have read
    return any;
}

void __syncwarp(unsigned mask)
{
    fiber &f = b.fibers[(size_t)b.current];
    f.mask = mask;
    f.value = 0;
    wait_as(AT_WARP);
}

uint64_t emulate_exchange(uint64_t value, int from, unsigned mask)
{
    int first = b.current / WARP * WARP;
    fiber &f = b.fibers[(size_t)b.current];
    int turn = f.turn;
    f.turn ^= 1;
    f.given[turn] = value;
    f.mask = mask;
    f.value = 0;
    wait_as(AT_WARP);
    if (from < 0 || from >= WARP || first + from >= b.count)
        fail("a shuffle from a lane that is not there");
    return b.fibers[(size_t)(first + from)].given[turn];
}

unsigned __ballot_sync(unsigned mask, int value)
{
    fiber &f = b.fibers[(size_t)b.current];
    int warp = b.current / WARP;
    f.mask = mask;
    f.value = value;
    wait_as(AT_WARP);
    unsigned votes = warp_votes[warp];
    __syncwarp(mask);
    return votes;
}

// What all lanes of a warp give, up to SLOT bytes each: one after the other.
static const unsigned char *gather(const void *const parts[2], const size_t sizes[2])
{
    enum { SLOT = 256 };
    static unsigned char given[2][MAX_THREADS][SLOT];
    fiber &f = b.fibers[(size_t)b.current];
    int turn = f.turn;
    f.turn ^= 1;
    f.mask = 0xffffffffu;
    f.value = 0;
    if (sizes[0] + sizes[1] > SLOT || (b.count - b.current / WARP * WARP) < WARP)
        fail("a product of matrices of an impossible size");
    memcpy(given[turn][b.current], parts[0], sizes[0]);
    memcpy(given[turn][b.current] + sizes[0], parts[1], sizes[1]);
    wait_as(AT_WARP);
    return given[turn][b.current / WARP * WARP];
}

static unsigned word_of(const unsigned char *given, int lane, int word)
{
    unsigned v;
    memcpy(&v, given + lane * 256 + word * 4, sizeof v);
    return v;
}

// Steps of 16 in the inner dimension: words of two rows and of a column each.
template <typename T>
static void multiply_bytes(int d[4], const unsigned *a, const unsigned *w, const int c[4],
                           int halves)
{
    const void *parts[2] = {a, w};
    const size_t sizes[2] = {8 * (size_t)halves, 4 * (size_t)halves};
    const unsigned char *given = gather(parts, sizes);
    int lane = b.current % WARP, g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; i++) {
        T sum = (T)c[i];
        int column = 2 * t + i % 2;
        for (int k = 0; k < halves; k++)
            for (int j = 0; j < 4; j++)
                sum = __dp4a((T)word_of(given, 4 * g + j, 2 * k + i / 2),
                             (T)word_of(given, 4 * column + j, 2 * halves + k), sum);
        d[i] = (int)sum;
    }
}

void emulate_multiply_s8(int d[4], const unsigned *a, const unsigned *w, const int c[4], int steps)
{
    multiply_bytes<int>(d, a, w, c, 2 * steps);
}

void emulate_multiply_u8(int d[4], const unsigned *a, const unsigned *w, const int c[4], int halves)
{
    multiply_bytes<unsigned>(d, a, w, c, halves);
}

static float half_of(unsigned pair, int i)
{
    return __half2float(__half{(unsigned short)(pair >> 16 * i)});
}

void emulate_multiply_f16(float d[4], const unsigned a[2], unsigned w)
{
    const void *parts[2] = {a, &w};
    const size_t sizes[2] = {8, 4};
    const unsigned char *given = gather(parts, sizes);
    int lane = b.current % WARP, g = lane / 4, t = lane % 4;
    for (int i = 0; i < 4; i++) {
        double sum = d[i];
        for (int k = 0; k < 8; k++)
            sum += (double)half_of(word_of(given, 4 * g + k / 2, i / 2), k % 2) *
                   half_of(word_of(given, 4 * (2 * t + i % 2) + k / 2, 2), k % 2);
        d[i] = (float)sum;
    }
}

// ---- binary16

float __half2float(__half h)
{
    int sign = h.bits >> 15, exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
    double v = exponent == 31  ? (fraction ? NAN : INFINITY)
               : exponent == 0 ? ldexp(fraction, -24)
                               : ldexp(1024 + fraction, exponent - 25);
    return (float)(sign ? -v : v);
}

static __half nearest_half(double f)
{
    unsigned sign = signbit(f) ? 0x8000 : 0;
    double a = fabs(f);
    unsigned r;
    if (a != a)
        r = 0x7e00;
    else if (a >= 65520)
        r = 0x7c00;
    else if (a < ldexp(1, -14))
        r = (unsigned)nearbyint(ldexp(a, 24));
    else {
        int e;
        double m = frexp(a, &e); // 0.5 .. 1
        r = (unsigned)((e + 14) * 1024 + (int)nearbyint(ldexp(m, 11)) - 1024);
    }
    return __half{(unsigned short)(r | sign)};
}

__half __float2half_rn(float f)
{
    return nearest_half(f);
}

// Products are exact; sums are but for bits that lie far below those of a half.
unsigned emulate_fma_f16x2(unsigned a, unsigned b, unsigned c)
{
    unsigned r = 0;
    for (int i = 0; i < 2; i++)
        r |= (unsigned)nearest_half((double)half_of(a, i) * half_of(b, i) + half_of(c, i)).bits
             << 16 * i;
    return r;
}
