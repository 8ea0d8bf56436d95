/* FMI 2.0 co-simulation around {{ name }}_step. Made by lfno {{ version }}.
 *
 * A communication step is a whole number of model steps of {{ dt }}. During a communication step, an input moves with the
 * derivative that the importer sets (fmi2SetRealInputDerivatives). Without a derivative, the input keeps its value. An input
 * that is set to another value jumps at that time.
 */
{% include "fmi.c" %}

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef struct {
    void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    Memory memory;
    fmi2CallbackFunctions callbacks;
    char name[64];
} Instance;

static fmi2Status fail(Instance *one, const char *message)
{
    if (one->callbacks.logger)
        one->callbacks.logger(one->callbacks.componentEnvironment, one->name, fmi2Error, "error", "%s", message);
    return fmi2Error;
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging)
{
    Instance *one;
    if (!callbacks || !callbacks->allocateMemory || type != fmi2CoSimulation || !guid || strcmp(guid, "{{ guid }}")) return NULL;
    one = callbacks->allocateMemory(1, sizeof *one);
    if (!one) return NULL;
    one->callbacks = *callbacks;
    strncpy(one->name, name ? name : "", sizeof one->name - 1);
    restart(&one->memory);
    return one;
}

EXPORT void fmi2FreeInstance(fmi2Component c)
{
    Instance *one = c;
    if (one && one->callbacks.freeMemory) one->callbacks.freeMemory(one);
}

EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[])
{
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerant, fmi2Real tolerance, fmi2Real begin,
                                      fmi2Boolean ends, fmi2Real end)
{
    ((Instance *)c)->memory.time = begin;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return fmi2OK; }

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    refresh(&((Instance *)c)->memory);
    return fmi2OK;
}

EXPORT fmi2Status fmi2Terminate(fmi2Component c) { return fmi2OK; }
EXPORT fmi2Status fmi2Reset(fmi2Component c)
{
    restart(&((Instance *)c)->memory);
    return fmi2OK;
}


EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference which[], size_t count, fmi2Real values[])
{
    size_t k;
    for (k = 0; k < count; k++) {
        const char *problem = get_value(&((Instance *)c)->memory, which[k], values + k);
        if (problem) return fail(c, problem);
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference which[], size_t count, const fmi2Real values[])
{
    size_t k;
    for (k = 0; k < count; k++) {
        const char *problem = set_value(&((Instance *)c)->memory, which[k], values[k]);
        if (problem) return fail(c, problem);
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference which[], size_t count,
                                              const fmi2Integer order[], const fmi2Real values[])
{
    size_t k;
    for (k = 0; k < count; k++) {
        if (which[k] >= INPUTS || order[k] != 1) return fail(c, "only the first derivative of an input can be set");
        if (!isfinite(values[k])) return fail(c, NOT_FINITE);
        ((Instance *)c)->memory.slopes[which[k]] = values[k];
    }
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference which[], size_t count,
                                               const fmi2Integer order[], fmi2Real values[])
{
    return fail(c, "outputs have no derivatives");
}

EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real now, fmi2Real length, fmi2Boolean final)
{
    Memory *memory = &((Instance *)c)->memory;
    long k, count = model_steps(length);
    int i;
    if (!count) return fail(c, BAD_STEP);
    refresh(memory);
    for (k = 1; k <= count; k++) feed(memory, (double)k * {{ name }}_dt, 1);
    for (i = 0; i < INPUTS; i++) memory->values[i] += length * memory->slopes[i];
    memory->time += length;
    return fmi2OK;
}

EXPORT fmi2Status fmi2CancelStep(fmi2Component c) { return fail(c, "a step is never pending"); }

EXPORT fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    return fail(c, "a step is never pending");
}

EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime) return fail(c, "there is no such status");
    *value = ((Instance *)c)->memory.time;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    return fail(c, "there is no such status");
}

EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    if (kind != fmi2Terminated) return fail(c, "there is no such status");
    *value = 0;
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    return fail(c, "there is no such status");
}

{% for type in ("Integer", "Boolean", "String") %}
EXPORT fmi2Status fmi2Get{{ type }}(fmi2Component c, const fmi2ValueReference which[], size_t count, fmi2{{ type }} values[])
{
    return count ? fail(c, "there are only real variables") : fmi2OK;
}

EXPORT fmi2Status fmi2Set{{ type }}(fmi2Component c, const fmi2ValueReference which[], size_t count, const fmi2{{ type }} values[])
{
    return count ? fail(c, "there are only real variables") : fmi2OK;
}
{% endfor %}
EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    Instance *one = c;
    if (!*state) *state = one->callbacks.allocateMemory(1, sizeof one->memory);
    if (!*state) return fail(one, "out of memory");
    memcpy(*state, &one->memory, sizeof one->memory);
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    Instance *one = c;
    memcpy(&one->memory, state, sizeof one->memory);
    return fmi2OK;
}

EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    Instance *one = c;
    if (*state) one->callbacks.freeMemory(*state);
    *state = NULL;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    *size = sizeof(Memory);
    return fmi2OK;
}

EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (size < sizeof(Memory)) return fail(c, "the buffer for the state is too small");
    memcpy(bytes, state, sizeof(Memory));
    return fmi2OK;
}

EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    Instance *one = c;
    if (size != sizeof(Memory)) return fail(one, "these bytes are not a state of this model");
    if (!*state) *state = one->callbacks.allocateMemory(1, sizeof(Memory));
    if (!*state) return fail(one, "out of memory");
    memcpy(*state, bytes, sizeof(Memory));
    return fmi2OK;
}

EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns,
                                               const fmi2ValueReference known[], size_t knowns, const fmi2Real seed[],
                                               fmi2Real sensitivity[])
{
    return fail(c, "directional derivatives are not provided");
}
