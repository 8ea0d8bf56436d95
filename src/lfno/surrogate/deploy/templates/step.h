/* {{ name }}: {{ kind }}, one step of {{ dt }} {{ unit }} at a time.
 *
 * Made by lfno {{ version }}. C99, no dependency but libm, no memory allocation.
 *
 *   {{ name }}_state state;
 *   {{ name }}_reset(&state);                    start from rest
 *   {{ name }}_step(&state, input, output);      once for every sample, {{ dt }} {{ unit }} apart
 *
 * A program may use several states, which do not influence each other. {{ hold }}
 *
 * inputs:{% for channel in inputs %}
 *   [{{ loop.index0 }}] {{ channel }}{% endfor %}
 * outputs:{% for channel in outputs %}
 *   [{{ loop.index0 }}] {{ channel }}{% endfor %}
{% for note in notes %} * {{ note }}
{% endfor %} *
 * Test: from rest, the inputs {{ name }}_test_input give the outputs {{ name }}_test_output.
 */
#ifndef {{ guard }}_H
#define {{ guard }}_H

#ifdef __cplusplus
extern "C" {
#endif

typedef {{ real }} {{ name }}_real;

enum { {{ name }}_INPUTS = {{ inputs | length }}, {{ name }}_OUTPUTS = {{ outputs | length }}, {{ name }}_TEST = {{ test }} };

typedef struct {
    int count;
    {{ name }}_real s[{{ states }}];
} {{ name }}_state;

/* The time between two samples, in {{ unit or "the unit of time" }}. */
extern const double {{ name }}_dt;

void {{ name }}_reset({{ name }}_state *state);

/* Advance by one sample: `input` is the next sample, and `output` receives the outputs at its time. Inputs must be finite. */
void {{ name }}_step({{ name }}_state *state, const {{ name }}_real input[{{ inputs | length }}], {{ name }}_real output[{{ outputs | length }}]);

/* Replace the input of the last sample, without a step in time. Call this function if an input jumps at that time. */
void {{ name }}_jump({{ name }}_state *state, const {{ name }}_real input[{{ inputs | length }}], {{ name }}_real output[{{ outputs | length }}]);

extern const {{ name }}_real {{ name }}_test_input[{{ test }}][{{ inputs | length }}];
extern const {{ name }}_real {{ name }}_test_output[{{ test }}][{{ outputs | length }}];

#ifdef __cplusplus
}
#endif
#endif
