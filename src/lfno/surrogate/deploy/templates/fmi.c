#include "{{ name }}.h"
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined _WIN32
#define EXPORT __declspec(dllexport)
#elif defined __GNUC__
#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wunused-parameter"
#else
#define EXPORT
#endif

enum { INPUTS = {{ name }}_INPUTS, OUTPUTS = {{ name }}_OUTPUTS, VARIABLES = INPUTS + OUTPUTS };

typedef struct {
    {{ name }}_state state;
    double values[VARIABLES]; /* inputs, then outputs */
    double slopes[INPUTS];    /* rates of change of the inputs within a communication step, per unit of time */
    double time;
    int changed; /* an input was set since the last sample */
} Memory;

static const double start[INPUTS] = { {{ starts }} };

static const char BAD_STEP[] = "the communication step must be a whole number of model steps of {{ dt }}";
static const char NOT_FINITE[] = "an input is not a finite number";
static const char NO_VARIABLE[] = "there is no such variable";
static const char ONLY_INPUTS[] = "only inputs can be set";

static void restart(Memory *memory)
{
    memset(memory, 0, sizeof *memory);
    memcpy(memory->values, start, sizeof start);
    {{ name }}_reset(&memory->state);
    memory->changed = 1;
}

/* Run the model with the inputs values + offset * slopes. With `next`, they are the next sample; otherwise they replace the
   last sample. */
static void feed(Memory *memory, double offset, int next)
{
    {{ name }}_real input[INPUTS], output[OUTPUTS];
    int i;
    for (i = 0; i < INPUTS; i++) input[i] = ({{ name }}_real)(memory->values[i] + offset * memory->slopes[i]);
    if (next)
        {{ name }}_step(&memory->state, input, output);
    else
        {{ name }}_jump(&memory->state, input, output);
    for (i = 0; i < OUTPUTS; i++) memory->values[INPUTS + i] = output[i];
    memory->changed = 0;
}

/* If an input was set after the last sample, let it jump at the time of that sample. */
static void refresh(Memory *memory)
{
    if (memory->changed) feed(memory, 0, 0);
}

static const char *get_value(Memory *memory, unsigned int which, double *value)
{
    if (which >= VARIABLES) return NO_VARIABLE;
    if (which >= INPUTS) refresh(memory);
    *value = memory->values[which];
    return NULL;
}

static const char *set_value(Memory *memory, unsigned int which, double value)
{
    if (which >= INPUTS) return ONLY_INPUTS;
    if (!isfinite(value)) return NOT_FINITE;
    memory->values[which] = value;
    memory->slopes[which] = 0;
    memory->changed = 1;
    return NULL;
}

/* Return the number of model steps in a communication step; 0 if it is not a whole number. */
static long model_steps(double length)
{
    double steps = floor(length / {{ name }}_dt + 0.5);
    if (!(steps >= 1 && steps <= 1e9) || fabs(length - steps * {{ name }}_dt) > 1e-6 * {{ name }}_dt) return 0;
    return (long)steps;
}
