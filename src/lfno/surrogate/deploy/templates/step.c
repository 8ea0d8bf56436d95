/* {{ name }}: see {{ name }}.h. Made by lfno {{ version }}. */
#include "{{ name }}.h"
#include <math.h>
#include <string.h>

typedef {{ name }}_real real;

const double {{ name }}_dt = {{ dt }};

{% for array in arrays %}{{ array }}
{% endfor %}
/* One sample of a bank of poles: y = Re sum residues x, and the state xi before the next sample. */
static void bank(int started, int ins, int outs, int poles, const real *decay, const real *tap0, const real *tap1,
                 const real *residues, const real *v, real *xi, real *y)
{
    int i, o, m;
    for (o = 0; o < outs; o++) y[o] = 0;
    for (i = 0; i < ins; i++) {
        for (m = 0; m < poles; m++) {
            real *state = xi + 2 * (i * poles + m);
            const real *beta = residues + 2 * (i * poles + m) * outs;
            real re = 0, im = 0;
            if (started) {
                re = state[0] + tap0[2 * m] * v[i];
                im = state[1] + tap0[2 * m + 1] * v[i];
            }
            for (o = 0; o < outs; o++) y[o] += beta[2 * o] * re - beta[2 * o + 1] * im;
            state[0] = decay[2 * m] * re - decay[2 * m + 1] * im + tap1[2 * m] * v[i];
            state[1] = decay[2 * m] * im + decay[2 * m + 1] * re + tap1[2 * m + 1] * v[i];
        }
    }
}

static void affine(int ins, int outs, const real *weight, const real *bias, const real *v, real *y)
{
    int i, o;
    for (o = 0; o < outs; o++) {
        real sum = bias ? bias[o] : 0;
        for (i = 0; i < ins; i++) sum += weight[o * ins + i] * v[i];
        y[o] = sum;
    }
}
{% if network %}
static real act(real x)
{
    return {{ activation }};
}
{% endif %}
void {{ name }}_reset({{ name }}_state *state)
{
    memset(state, 0, sizeof *state);
}

void {{ name }}_step({{ name }}_state *state, const real input[{{ inputs | length }}], real output[{{ outputs | length }}])
{
    real scaled[{{ inputs | length }}], answer[{{ outputs | length }}];
    int i;
{%- if network %}
    real v[{{ width }}], y[{{ width }}], w[{{ width }}], both[{{ 2 * width }}], hidden[{{ hidden }}];
    int k;
{%- else %}
    real through[{{ outputs | length }}];
{%- endif %}
    for (i = 0; i < {{ inputs | length }}; i++) scaled[i] = (input[i] - input_offset[i]) / input_scale[i];
{%- if network %}
    affine({{ inputs | length }}, {{ width }}, lift_weight, lift_bias, scaled, v);
    for (k = 0; k < {{ layers }}; k++) {
        bank(state->started, {{ width }}, {{ width }}, {{ poles }}, decay + k * {{ 2 * poles }}, tap0 + k * {{ 2 * poles }},
             tap1 + k * {{ 2 * poles }}, residues + k * {{ 2 * poles * width * width }}, v,
             state->xi + k * {{ 2 * poles * width }}, y);
        affine({{ width }}, {{ width }}, weight + k * {{ width * width }}, bias + k * {{ width }}, v, w);
        for (i = 0; i < {{ width }}; i++) y[i] = act(y[i] + w[i]);
{%- if gated %}
        affine({{ width }}, {{ 2 * width }}, gate_weight + k * {{ 2 * width * width }}, gate_bias + k * {{ 2 * width }}, y, both);
        for (i = 0; i < {{ width }}; i++) v[i] += both[i] / (1 + {{ exp }}(-both[{{ width }} + i]));
{%- else %}
        (void)both;
        for (i = 0; i < {{ width }}; i++) v[i] += y[i];
{%- endif %}
    }
    affine({{ width }}, {{ hidden }}, hidden_weight, hidden_bias, v, hidden);
    for (i = 0; i < {{ hidden }}; i++) hidden[i] = act(hidden[i]);
    affine({{ hidden }}, {{ outputs | length }}, project_weight, project_bias, hidden, answer);
{%- else %}
    bank(state->started, {{ inputs | length }}, {{ outputs | length }}, {{ poles }}, decay, tap0, tap1, residues, scaled, state->xi, answer);
    affine({{ inputs | length }}, {{ outputs | length }}, direct, 0, scaled, through);
    for (i = 0; i < {{ outputs | length }}; i++) answer[i] += through[i];
{%- endif %}
    for (i = 0; i < {{ outputs | length }}; i++) output[i] = answer[i] * output_scale[i] + output_offset[i];
    state->started = 1;
}
