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
#include <dlfcn.h>
#include <sanitizer/common_interface_defs.h>
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

// ---- fibers

namespace
{

enum { STACK = 256 * 1024, MAX_THREADS = 1024, WARP = 32 };
// How far the stacks' tops lie from each other within a page, lest they share a few cache lines.
enum { STAGGER = 9 * 64, PAGE = 4096 };
enum state { NEW, READY, AT_BLOCK, AT_WARP, DONE };

// A stack of its own, for threads that begin there one after the other.
struct fiber {
    jmp_buf at;
    bool started;
    unsigned char *stack;
    size_t size;
    void *fake_stack;
};

struct thread {
    state where;
    fiber *on;     // once it has begun
    unsigned mask; // of the lanes waited for
    uint3 index;
    int value; // given at a block's barrier
    uint64_t given[2];
    int turn; // which of `given` the next exchange uses
};

struct block {
    const std::function<void()> *work;
    thread threads[MAX_THREADS];
    std::vector<fiber *> idle; // on which no thread is
    size_t made;               // fibers
    jmp_buf scheduler;
    int current, count, done;
    int any;
    const void *main_stack;
    size_t main_stack_size;
    bool from_scheduler; // whether it is what switches

    ~block()
    {
        for (fiber *f : idle) {
            free(f->stack);
            delete f;
        }
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

// Libc's own: the sanitizer's takes a system call, and forgets what it knows of the stack.
void (*libc_longjmp())(jmp_buf, int)
{
    void (*jump)(jmp_buf, int) = _longjmp;
#ifdef EMULATE_ASAN
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *symbol = libc ? dlsym(libc, "_longjmp") : nullptr;
    if (symbol)
        memcpy(&jump, &symbol, sizeof jump);
#endif
    return jump;
}

void (*const jump)(jmp_buf, int) = libc_longjmp();

// Tells the sanitizer that a fiber goes on, whichever thread of the host launched it.
void arrive(void *fake_stack)
{
    (void)fake_stack;
#ifdef EMULATE_ASAN
    if (b.from_scheduler)
        __sanitizer_finish_switch_fiber(fake_stack, &b.main_stack, &b.main_stack_size);
    else
        __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
    b.from_scheduler = false;
}

void enter(int i, fiber *f)
{
    b.current = i;
    b.threads[i].on = f;
    threadIdx = b.threads[i].index;
}

// From the current thread's fiber to that of the next one of its warp, where it was stopped and may
// go on, or to the scheduler.
void leave(fiber *f)
{
    int next = b.current + 1;
    bool goes_on = next % WARP && next < b.count && b.threads[next].where == READY;
    fiber *to = goes_on ? b.threads[next].on : nullptr;
    if (to)
        enter(next, to);
#ifdef EMULATE_ASAN
    __sanitizer_start_switch_fiber(&f->fake_stack, to ? to->stack : b.main_stack,
                                   to ? to->size : b.main_stack_size);
#endif
    if (!_setjmp(f->at))
        jump(to ? to->at : b.scheduler, 1);
    arrive(f->fake_stack);
}

// The current thread, and those of its warp behind it that have not begun: where threads do not
// wait, that takes no switch.
void run_threads()
{
    for (;;) {
        (*b.work)();
        thread &t = b.threads[b.current];
        int next = b.current + 1;
        t.where = DONE;
        b.done++;
        if (next % WARP == 0 || next == b.count || b.threads[next].where != NEW)
            return;
        enter(next, t.on);
    }
}

void fiber_main()
{
    arrive(nullptr);
    for (;;) {
        run_threads();
        fiber *f = b.threads[b.current].on;
        b.idle.push_back(f);
        leave(f);
    }
}

fiber *new_fiber()
{
    fiber *f = new fiber{};
    f->size = STACK - b.made++ * STAGGER % PAGE;
    f->stack = (unsigned char *)malloc(f->size);
    return f;
}

fiber *idle_fiber()
{
    if (b.idle.empty())
        b.idle.push_back(new_fiber());
    fiber *f = b.idle.back();
    b.idle.pop_back();
    return f;
}

// Switches go by setjmp, which makes no system call; only a fiber's first start needs more.
__attribute__((no_sanitize("address"))) void go_to(fiber *f) // whose frame is never left
{
    if (f->started)
        jump(f->at, 1);
    f->started = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = f->size;
    context.uc_link = nullptr;
    makecontext(&context, fiber_main, 0);
    setcontext(&context);
}

void resume(int i)
{
    enter(i, b.threads[i].where == NEW ? idle_fiber() : b.threads[i].on);
#ifdef EMULATE_ASAN
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(&fake, b.threads[i].on->stack, b.threads[i].on->size);
#endif
    b.from_scheduler = true;
    if (!_setjmp(b.scheduler))
        go_to(b.threads[i].on);
#ifdef EMULATE_ASAN
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

void wait_as(state where)
{
    thread &t = b.threads[b.current];
    t.where = where;
    leave(t.on);
}

bool release_block()
{
    b.any = 0;
    for (int i = 0; i < b.count; i++) {
        const thread &t = b.threads[i];
        if (t.where != AT_BLOCK && t.where != DONE)
            return false;
        if (t.where == AT_BLOCK)
            b.any |= t.value;
    }
    bool any = false;
    for (int i = 0; i < b.count; i++)
        if (b.threads[i].where == AT_BLOCK) {
            b.threads[i].where = READY;
            any = true;
        }
    return any;
}

bool release_warp(int first)
{
    unsigned waiting = 0, alive = 0;
    for (int l = 0; l < WARP && first + l < b.count; l++) {
        waiting |= b.threads[first + l].where == AT_WARP ? 1u << l : 0;
        alive |= b.threads[first + l].where != DONE ? 1u << l : 0;
    }
    bool any = false;
    for (int l = 0; l < WARP && first + l < b.count; l++) {
        thread &t = b.threads[first + l];
        if (t.where != AT_WARP || (t.mask & alive & ~waiting))
            continue;
        // All lanes that it waits for are here: they go on together.
        unsigned votes = 0, mask = t.mask & alive;
        for (int m = 0; m < WARP && first + m < b.count; m++)
            if (mask >> m & 1)
                votes |= b.threads[first + m].value ? 1u << m : 0;
        warp_votes[first / WARP] = votes;
        for (int m = 0; m < WARP && first + m < b.count; m++)
            if (mask >> m & 1)
                b.threads[first + m].where = READY;
        any = true;
        break;
    }
    return any;
}

void run_block()
{
    b.done = 0;
    for (int i = 0; i < b.count; i++) {
        thread &t = b.threads[i];
        t.where = NEW;
        t.turn = 0;
        t.index = {(unsigned)i % blockDim.x, (unsigned)i / blockDim.x % blockDim.y,
                   (unsigned)i / (blockDim.x * blockDim.y)};
    }
    while (b.done < b.count) {
        bool ran = false;
        // A warp goes on until its lanes all wait for the block: other warps see what it did.
        for (int first = 0; first < b.count; first += WARP) {
            for (bool again = true; again; again = release_warp(first)) {
                for (int i = first; i < first + WARP && i < b.count; i++) {
                    if (b.threads[i].where != NEW && b.threads[i].where != READY)
                        continue;
                    resume(i);
                    ran = true;
                    i = b.current; // which is done or waits
                }
            }
        }
        if (!release_block() && !ran && b.done < b.count)
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
    b.work = &work.thread;
    b.count = (int)(threads.x * threads.y * threads.z);
    if (b.count < 1 || b.count > MAX_THREADS || grid.y > 65535 || grid.z > 65535 || !grid.x ||
        !grid.y || !grid.z)
        fail("a launch of an impossible size");
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
    b.threads[b.current].value = 0;
    wait_as(AT_BLOCK);
}

int __syncthreads_or(int value)
{
    b.threads[b.current].value = value;
    wait_as(AT_BLOCK);
    int any = b.any;
    __syncthreads(); // nobody may begin another before all have read
    return any;
}

void __syncwarp(unsigned mask)
{
    thread &t = b.threads[b.current];
    t.mask = mask;
    t.value = 0;
    wait_as(AT_WARP);
}

uint64_t emulate_exchange(uint64_t value, int from, unsigned mask)
{
    int first = b.current / WARP * WARP;
    thread &t = b.threads[b.current];
    int turn = t.turn;
    t.turn ^= 1;
    t.given[turn] = value;
    t.mask = mask;
    t.value = 0;
    wait_as(AT_WARP);
    if (from < 0 || from >= WARP || first + from >= b.count)
        fail("a shuffle from a lane that is not there");
    return b.threads[first + from].given[turn];
}

unsigned __ballot_sync(unsigned mask, int value)
{
    thread &t = b.threads[b.current];
    int warp = b.current / WARP;
    t.mask = mask;
    t.value = value;
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
    thread &t = b.threads[b.current];
    int turn = t.turn;
    t.turn ^= 1;
    t.mask = 0xffffffffu;
    t.value = 0;
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
