/* lr_schedule.c - learning-rate schedules: functions of the step. Formulas of
 * torch.optim.lr_scheduler. */
#include <lazuli/optim.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

/* Cosine annealing from a to b; t in 0..1. */
static double half_cosine(double a, double b, double t)
{
    return b + 0.5 * (a - b) * (1 + cos(PI * t));
}

double lz_lr_cosine(double base, int64_t step, int64_t total, int64_t warmup, double final_lr)
{
    if (warmup > 0 && step < warmup)
        return base * (double)(step + 1) / (double)warmup;
    if (total <= warmup || step >= total)
        return final_lr;
    return half_cosine(base, final_lr,
                       ((double)step - (double)warmup) / ((double)total - (double)warmup));
}

double lz_lr_step(double base, int64_t step, int64_t every, double factor)
{
    return every > 0 && step > 0 ? base * pow(factor, (double)(step / every)) : base;
}

double lz_lr_multistep(double base, int64_t step, const int64_t *milestones, size_t n,
                       double factor)
{
    int passed = 0;
    for (size_t i = 0; milestones && i < n; i++)
        passed += milestones[i] <= step;
    return base * pow(factor, passed);
}

double lz_lr_exponential(double base, int64_t step, double factor)
{
    return base * pow(factor, step > 0 ? (double)step : 0);
}

double lz_lr_linear(double base, int64_t step, int64_t total, double start, double end)
{
    if (step >= total)
        return base * end;
    return base * (start + (end - start) * (step > 0 ? (double)step : 0) / (double)total);
}

double lz_lr_polynomial(double base, int64_t step, int64_t total, double power)
{
    if (step >= total)
        return 0;
    return base * pow(1 - (step > 0 ? (double)step : 0) / (double)total, power);
}

double lz_lr_one_cycle(double max_lr, int64_t step, int64_t total, double pct_start, double div,
                       double final_div)
{
    double first = max_lr / div, last = first / final_div;
    double top = pct_start * (double)total - 1, end = (double)total - 1, at = (double)step;
    if (at <= 0)
        return first;
    if (at >= end)
        return last;
    if (at <= top)
        return half_cosine(first, max_lr, at / top);
    return half_cosine(max_lr, last, (at - top) / (end - top));
}
