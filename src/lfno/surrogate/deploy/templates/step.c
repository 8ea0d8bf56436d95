/* {{ name }}: see {{ name }}.h. Made by lfno {{ version }}. */
#include "{{ name }}.h"
#include <math.h>
#include <string.h>

typedef {{ name }}_real real;

const double {{ name }}_dt = {{ dt }};

{% for array in arrays + tests %}{{ array }}
{% endfor %}
{% if "Scale" in kinds -%}
static void scale(int size, const real *offset, const real *factor, const real *x, real *y)
{
    int i;
    for (i = 0; i < size; i++) y[i] = (x[i] - offset[i]) * factor[i];
}
{% endif -%}
{% if "Affine" in kinds %}
static void affine(int ins, int outs, const real *matrix, const real *offset, const real *x, real *y)
{
    int i, o;
    for (o = 0; o < outs; o++) {
        real sum = offset ? offset[o] : 0;
        for (i = 0; i < ins; i++) sum += matrix[o * ins + i] * x[i];
        y[o] = sum;
    }
}
{% endif -%}
{% for function, expression in functions.items() %}
static real {{ function }}_(real x)
{
    return {{ expression }};
}
{% endfor -%}
{% if "Clip" in kinds %}
static void clip(int size, const real *low, const real *high, const real *x, real *y)
{
    int i;
    for (i = 0; i < size; i++) y[i] = x[i] < low[i] ? low[i] : x[i] > high[i] ? high[i] : x[i];
}
{% endif -%}
{% if "Product" in kinds %}
static void product(int size, const real *a, const real *b, real *y)
{
    int i;
    for (i = 0; i < size; i++) y[i] = a[i] * b[i];
}
{% endif -%}
{% if "Sum" in kinds %}
static void sum(int size, const real *a, const real *b, real *y)
{
    int i;
    for (i = 0; i < size; i++) y[i] = a[i] + b[i];
}
{% endif -%}
{% if "Apply" in kinds %}
static void apply(int size, real (*function)(real), const real *x, real *y)
{
    int i;
    for (i = 0; i < size; i++) y[i] = function(x[i]);
}
{% endif -%}
{% if "Update" in kinds %}
static void copy(int size, const real *x, real *y)
{
    memcpy(y, x, (size_t)size * sizeof *y);
}
{% endif -%}
{% if "Filter" in kinds or "Past" in kinds %}
/* At the second sample v, write samples from before the first sample into `kept`, newest first. They continue the straight line
   through the first two samples. */
static void begin(int count, int depth, real v, real *kept)
{
    int k;
    if (count == 1)
        for (k = 1; k < depth; k++) kept[k] = kept[0] + (real)k * (kept[0] - v);
}

/* Store the sample v as the newest one in `kept`. If `advance` is 0, v replaces the newest one. */
static void keep(int advance, int depth, real v, real *kept)
{
    int k;
    if (advance)
        for (k = depth - 1; k > 0; k--) kept[k] = kept[k - 1];
    kept[0] = v;
}
{% endif -%}
{% if "Filter" in kinds %}
/* If `advance` is not 0, advance the states x of the poles by one sample of every channel of v:
   x <- decay x + taps[0] v + taps[1] (previous v) + taps[2] (v before the previous one) + ...
   Where chain[m] is 1, the previous state of pole m - 1 is added to the state of pole m. */
static void filter(int advance, int count, int channels, int poles, int depth, const real *decay, const real *taps,
                   const real *chain, const real *v, real *past, real *x)
{
    int i, j, m;
    for (i = 0; i < channels; i++) {
        real *kept = past + i * depth, *pole = x + 2 * i * poles;
        if (advance) {
            begin(count, depth, v[i], kept);
            for (m = poles - 1; m >= 0; m--) {
                const real *tap = taps + 2 * m;
                real re = decay[2 * m] * pole[2 * m] - decay[2 * m + 1] * pole[2 * m + 1] + tap[0] * v[i];
                real im = decay[2 * m] * pole[2 * m + 1] + decay[2 * m + 1] * pole[2 * m] + tap[1] * v[i];
                if (m > 0 && chain) {
                    re += chain[m] * pole[2 * m - 2];
                    im += chain[m] * pole[2 * m - 1];
                }
                for (j = 0; j < depth; j++) {
                    tap += 2 * poles;
                    re += tap[0] * kept[j];
                    im += tap[1] * kept[j];
                }
                pole[2 * m] = re;
                pole[2 * m + 1] = im;
            }
        }
        keep(advance, depth, v[i], kept);
    }
}
{% endif -%}
{% if "Past" in kinds %}
static void past(int advance, int count, int channels, int depth, const real *v, real *before, real *y)
{
    int i, k;
    for (i = 0; i < channels; i++) {
        real *kept = before + i * depth;
        if (advance) begin(count, depth, v[i], kept);
        y[i] = v[i];
        for (k = 0; k < depth; k++) y[(k + 1) * channels + i] = kept[k];
        keep(advance, depth, v[i], kept);
    }
}
{% endif %}
static void run({{ name }}_state *state, int advance, const real *input, real *output)
{
    real w[{{ work }}], *s = state->s;
    const real *answer = {{ answer }};
    int i;
{%- for call in calls %}
    {{ call }}
{%- endfor %}
    for (i = 0; i < {{ outputs | length }}; i++) output[i] = answer[i];
    if (state->count < 2 && (advance || !state->count)) state->count++;
    (void)s;
    (void)w;
}

void {{ name }}_reset({{ name }}_state *state)
{
    memset(state, 0, sizeof *state);
}

void {{ name }}_step({{ name }}_state *state, const real input[{{ inputs | length }}], real output[{{ outputs | length }}])
{
    run(state, state->count > 0, input, output);
}

void {{ name }}_jump({{ name }}_state *state, const real input[{{ inputs | length }}], real output[{{ outputs | length }}])
{
    run(state, 0, input, output);
}
