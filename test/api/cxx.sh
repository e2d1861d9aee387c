#!/usr/bin/env bash
# cxx.sh - a program in C++17 and C++20 uses the whole interface: shapes, options, sites, errors; compiled by every C++ compiler
# there is, without a warning.
set -u
BUILD=${BUILD:?}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0
cat >"$tmp/p.cc" <<'CXX'
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <lazuli/lazuli.h>
#define CHECK(x) do { if (!(x)) { std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #x, lz_last_error_text()); return 1; } } while (0)

static int step(lz_tensor *w, std::size_t rows)
{
    const float a[] = {1, 2, 3, 4, 5, 6};
    int cols = 3;
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(rows, cols), a);
    lz_tensor *y = lz_linear(x, w, nullptr);
    lz_tensor *s = lz_sum(y, .dims = LZ_DIM(-1), .keepdim = true);
    lz_tensor *loss = lz_mean(lz_mul(lz_sub(y, s), lz_relu(y))), *v = lz_var(x, .correction = 0), *g = nullptr;
    CHECK(lz_grad(loss, &w, 1, &g) == LZ_OK);
    CHECK(lz_grad(loss, &w, 1, &g, .allow_unused = true) == LZ_OK);
    CHECK(lz_assign(w, lz_sub(w, lz_mul_scalar(g, 0.01))) == LZ_OK);
    CHECK(lz_mark_step() == LZ_OK && lz_mark_step(.wait = true) == LZ_OK);
    CHECK(std::isfinite(lz_item(loss)) && std::fabs(lz_item(v) - 35.0 / 12) < 1e-5);
    lz_tensor *t = lz_permute(lz_ones(LZ_F32, LZ_SHAPE(2, 3, 4)), 2, 0, 1);
    lz_shape shape = lz_shape_of(t), scalar = LZ_SCALAR;
    CHECK(shape.rank == 3 && shape.dims[0] == 4 && shape.dims[2] == 3 && scalar.rank == 0);
    return 0;
}

int main()
{
    static const float one[12] = {.5f, 1, -1, 2, 0, 3, 1, 1, 1, -2, 4, 1};
    lz_tensor *w = lz_retain(lz_from_host(LZ_F32, LZ_SHAPE(4, 3), one));
    for (int i = 0; i < 3; i++) {
        CHECK(lz_scope_begin() == LZ_OK);
        if (step(w, 2))
            return 1;
        CHECK(lz_scope_end() == LZ_OK);
    }
    double wide[] = {1, 2};
    const std::int64_t longs[2] = {1, 2};
    float *part = nullptr, pair[2] = {1, 2};
    CHECK(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(2), wide)) == LZ_EDTYPE);
    CHECK(std::strstr(lz_last_error_text(), "data points to double, but the dtype is f32"));
    CHECK(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(13), one)) == LZ_ERANGE);
    CHECK(std::strstr(lz_last_error_text(), "data has 48 bytes, but f32[13] takes 52"));
    CHECK(lz_status_of(lz_from_host(LZ_U64, LZ_SHAPE(2), longs)) == LZ_OK);
    CHECK(lz_status_of(lz_from_host(LZ_C64, LZ_SHAPE(1), pair)) == LZ_OK);
    CHECK(lz_status_of(lz_from_host(LZ_C64, LZ_SHAPE(1), wide + 0)) == LZ_EDTYPE);
    CHECK(lz_status_of(lz_from_host(LZ_U8, LZ_SHAPE(8), static_cast<const void *>(wide))) == LZ_OK);
    CHECK(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(0), NULL)) == LZ_OK);
    CHECK(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(0), nullptr)) == LZ_OK);
    CHECK(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(0), part)) == LZ_OK);
    CHECK(lz_status_of(lz_from_host(LZ_F32, LZ_SHAPE(2), [&] { return pair; }())) == LZ_OK);
    CHECK(lz_status_of(lz_from_borrowed(LZ_F32, LZ_SHAPE(2), wide, nullptr, nullptr)) == LZ_EDTYPE);
    CHECK(lz_status_of(lz_from_borrowed(LZ_F32, LZ_SHAPE(2), pair, nullptr, nullptr)) == LZ_OK);
    CHECK(lz_wait_device_ops() == LZ_OK);
    CHECK(lz_status_of(lz_matmul(w, w)) == LZ_ESHAPE && std::strstr(lz_last_error_text(), "p.cc:"));
    lz_params ps{};
    CHECK(lz_params_add(&ps, "w", w) == LZ_OK);
    lz_optim *o = lz_adam(&ps, .lr = 0.5), *q = lz_sgd(&ps, .momentum = 0.9);
    CHECK(o && q && lz_optim_lr(o) == 0.5 && lz_optim_lr(q) == 1e-3);
    lz_optim_free(o);
    lz_optim_free(q);
    lz_params_free(&ps);
    struct DLManagedTensorVersioned *m = nullptr;
    CHECK(lz_to_dlpack(w, false, &m) == LZ_OK && m->dl_tensor.ndim == 2);
    m->deleter(m);
    return lz_release(w) == LZ_OK ? 0 : 1;
}
CXX
# The defaults that options.def gives to other languages are those that the structs have in C++, and no struct has no row.
cat >"$tmp/o.cc" <<'CXX'
#include <cstdio>
#include <cstring>
#include <lazuli/lazuli.h>
#include <new>
static bool same_text(const char *a, const char *b) { return a && b ? !std::strcmp(a, b) : a == b; }
// Texts are the same when they read the same: b gets the pointer of a.
#define UNIFY(field)                                                                                              \
    template <class T> static auto unify_##field(T *a, T *b, int) -> decltype(same_text(a->field, ""), void())   \
    {                                                                                                             \
        if (same_text(a->field, b->field)) b->field = a->field;                                                   \
    }                                                                                                             \
    template <class T> static void unify_##field(T *, T *, long) {}
UNIFY(norm)
UNIFY(interpolation)
UNIFY(mode)
UNIFY(padding_mode)
UNIFY(pad_mode)
static int differ;
template <class T> static void compare(const char *name, void (*defaults)(T *, std::size_t))
{
    alignas(T) static unsigned char x[sizeof(T)], y[sizeof(T) + 8];
    T *a = new (x) T{}, *b = reinterpret_cast<T *>(y);
    defaults(b, sizeof(T));
    unify_norm(a, b, 0), unify_interpolation(a, b, 0), unify_mode(a, b, 0);
    unify_padding_mode(a, b, 0), unify_pad_mode(a, b, 0);
    bool ok = !std::memcmp(a, b, sizeof(T));
    std::memset(y, 0x5a, sizeof y);
    defaults(b, sizeof(T) - 1);
    ok = ok && b->struct_size == sizeof(T) - 1 && y[sizeof(T) - 1] == 0x5a;
    defaults(nullptr, sizeof(T));
    if (!ok)
        std::printf("%s: defaults differ\n", name), differ = 1;
}
int main()
{
#define LZ_OPTIONS_ROW(type, ...) compare<type>(#type, type##_default);
#include <lazuli/options.def>
    return differ;
}
CXX
rows=$(sed -n 's/^LZ_OPTIONS_ROW(\([a-z0-9_]*\),.*/\1/p' include/lazuli/options.def)
structs=$(sed -nE 's/.*LZ_DEFAULT\(sizeof\((lz_[a-z0-9_]*_(options|call))\)\).*/\1/p' include/lazuli/*.h | LC_ALL=C sort)
if [ "$rows" = "$structs" ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    echo 'options.def has other structs than the headers (< rows, > structs):'
    echo "$rows" >"$tmp/rows"; echo "$structs" | diff "$tmp/rows" -
fi
san=$(grep -o -- '-fsanitize=[a-z,]*' "$BUILD/flags" | tr '\n' ' ')
for cxx in ${CXX:-c++} g++ clang++-19 clang++; do
    command -v "$cxx" >/dev/null || continue
    case " ${tried:-} " in *" $(readlink -f "$(command -v "$cxx")") "*) continue ;; esac
    tried="${tried:-} $(readlink -f "$(command -v "$cxx")")"
    [ -n "$san" ] && case $cxx in clang*) continue ;; esac # the two have different run-time libraries
    for std in c++17 c++20; do for program in p o; do
        # shellcheck disable=SC2086
        if "$cxx" -std=$std -Wall -Wextra -Wshadow -Werror $san -Iinclude "$tmp/$program.cc" -o "$tmp/p" -L"$BUILD" -llazuli \
            -Wl,-rpath,"$(realpath "$BUILD")" >"$tmp/log" 2>&1 && "$tmp/p" >"$tmp/log" 2>&1; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "$cxx -std=$std:"
            head -20 "$tmp/log"
        fi
    done done
done
[ -n "${tried:-}" ] || { echo 'no C++ compiler'; exit 77; }
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
