/* FMI 3.0 co-simulation around {{ name }}_step. Made by lfno {{ version }}.
 *
 * A communication step is a whole number of model steps of {{ dt }}. During a communication step, the importer may set the
 * inputs at every model step (intermediate update). Otherwise the inputs keep their values. An input that is set to another
 * value jumps at that time.
 */
{% include "fmi.c" %}
#include <stdbool.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

typedef struct {
    Memory memory;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    fmi3IntermediateUpdateCallback update;
} Instance;

static fmi3Status fail(Instance *one, const char *message)
{
    if (one->log) one->log(one->environment, fmi3Error, "logStatusError", message);
    return fmi3Error;
}

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[])
{
    return fmi3OK;
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean events,
    fmi3Boolean early, const fmi3ValueReference variables[], size_t count, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    Instance *one;
    if (!token || strcmp(token, "{{ guid }}")) return NULL;
    one = calloc(1, sizeof *one);
    if (!one) return NULL;
    one->environment = environment;
    one->log = log;
    one->update = update;
    restart(&one->memory);
    return one;
}

EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                 fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                                 fmi3LogMessageCallback log)
{
    return NULL;
}

EXPORT fmi3Instance fmi3InstantiateScheduledExecution(
    fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible, fmi3Boolean logging,
    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
    fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    return NULL;
}

EXPORT void fmi3FreeInstance(fmi3Instance c) { free(c); }

EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerant, fmi3Float64 tolerance, fmi3Float64 begin,
                                              fmi3Boolean ends, fmi3Float64 end)
{
    ((Instance *)c)->memory.time = begin;
    return fmi3OK;
}

EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    refresh(&((Instance *)c)->memory);
    return fmi3OK;
}

EXPORT fmi3Status fmi3Terminate(fmi3Instance c) { return fmi3OK; }

EXPORT fmi3Status fmi3Reset(fmi3Instance c)
{
    restart(&((Instance *)c)->memory);
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference which[], size_t count, fmi3Float64 values[], size_t size)
{
    Memory *memory = &((Instance *)c)->memory;
    size_t k;
    for (k = 0; k < count; k++) {
        const char *problem = NULL;
        if (which[k] == VARIABLES)
            values[k] = memory->time;
        else
            problem = get_value(memory, which[k], values + k);
        if (problem) return fail(c, problem);
    }
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference which[], size_t count, const fmi3Float64 values[],
                                 size_t size)
{
    size_t k;
    for (k = 0; k < count; k++) {
        const char *problem = set_value(&((Instance *)c)->memory, which[k], values[k]);
        if (problem) return fail(c, problem);
    }
    return fmi3OK;
}

/* Ask the importer for the inputs at the end of the next model step. */
static void ask(Instance *one)
{
    fmi3Boolean early = false;
    fmi3Float64 when = 0;
    if (one->update) one->update(one->environment, one->memory.time, true, false, false, false, &early, &when);
}

EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 now, fmi3Float64 length, fmi3Boolean final, fmi3Boolean *event,
                             fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last)
{
    Instance *one = c;
    Memory *memory = &one->memory;
    double begin = memory->time;
    long k, count = model_steps(length);
    *event = *terminate = *early = false;
    *last = begin;
    if (!count) return fail(c, BAD_STEP);
    refresh(memory);
    for (k = 1; k <= count; k++) {
        memory->time = k == count ? begin + length : begin + (double)k * {{ name }}_dt;
        ask(one);
        feed(memory, 0, 1);
    }
    *last = memory->time;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    if (!*state) *state = malloc(sizeof(Memory));
    if (!*state) return fail(c, "out of memory");
    memcpy(*state, &((Instance *)c)->memory, sizeof(Memory));
    return fmi3OK;
}

EXPORT fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    memcpy(&((Instance *)c)->memory, state, sizeof(Memory));
    return fmi3OK;
}

EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    free(*state);
    *state = NULL;
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    *size = sizeof(Memory);
    return fmi3OK;
}

EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (size < sizeof(Memory)) return fail(c, "the buffer for the state is too small");
    memcpy(bytes, state, sizeof(Memory));
    return fmi3OK;
}

EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    if (size != sizeof(Memory)) return fail(c, "these bytes are not a state of this model");
    if (!*state) *state = malloc(sizeof(Memory));
    if (!*state) return fail(c, "out of memory");
    memcpy(*state, bytes, sizeof(Memory));
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *count)
{
    *count = 0;
    return fmi3OK;
}

EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *count)
{
    *count = 0;
    return fmi3OK;
}

/* There are no variables of other types. */
{%- for type in ("Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean", "String") %}
EXPORT fmi3Status fmi3Get{{ type }}(fmi3Instance c, const fmi3ValueReference which[], size_t count, fmi3{{ type }} values[], size_t size)
{
    return count ? fail(c, NO_VARIABLE) : fmi3OK;
}

EXPORT fmi3Status fmi3Set{{ type }}(fmi3Instance c, const fmi3ValueReference which[], size_t count, const fmi3{{ type }} values[], size_t size)
{
    return count ? fail(c, NO_VARIABLE) : fmi3OK;
}
{% endfor %}
/* Functions of the standard that this FMU exports without an implementation; modelDescription.xml says that they are missing. */
{%- for function, arguments in refused %}
EXPORT fmi3Status fmi3{{ function }}(fmi3Instance c{{ arguments }}) { return fail(c, "fmi3{{ function }} is not provided"); }
{%- endfor %}
