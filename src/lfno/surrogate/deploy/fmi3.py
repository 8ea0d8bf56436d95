"""Functions of FMI 3.0 that a co-simulation FMU must export but may leave unimplemented, with their C arguments."""

from __future__ import annotations

_REFERENCES = ", const fmi3ValueReference which[], size_t count"
_PAIR = ", const fmi3ValueReference unknown[], size_t unknowns, const fmi3ValueReference known[], size_t knowns"
_SEED = ", const fmi3Float64 seed[], size_t seeds, fmi3Float64 sensitivity[], size_t sensitivities"
_FRACTION = ", fmi3UInt64 counters[], fmi3UInt64 resolutions[]"
_GIVEN = ", const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]"

#: pairs of the name of a function without the prefix "fmi3", and its C arguments after the instance
REFUSED = (
    ("GetBinary", _REFERENCES + ", size_t sizes[], fmi3Binary values[], size_t size"),
    ("SetBinary", _REFERENCES + ", const size_t sizes[], const fmi3Binary values[], size_t size"),
    ("GetClock", _REFERENCES + ", fmi3Clock values[]"),
    ("SetClock", _REFERENCES + ", const fmi3Clock values[]"),
    ("GetNumberOfVariableDependencies", ", fmi3ValueReference which, size_t *count"),
    ("GetVariableDependencies", ", fmi3ValueReference which, size_t element[], fmi3ValueReference independents[], "
     "size_t elements[], fmi3DependencyKind kinds[], size_t count"),
    ("GetDirectionalDerivative", _PAIR + _SEED),
    ("GetAdjointDerivative", _PAIR + _SEED),
    ("EnterConfigurationMode", ""),
    ("ExitConfigurationMode", ""),
    ("EnterEventMode", ""),
    ("EnterStepMode", ""),
    ("EnterContinuousTimeMode", ""),
    ("GetIntervalDecimal", _REFERENCES + ", fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]"),
    ("GetIntervalFraction", _REFERENCES + _FRACTION + ", fmi3IntervalQualifier qualifiers[]"),
    ("GetShiftDecimal", _REFERENCES + ", fmi3Float64 shifts[]"),
    ("GetShiftFraction", _REFERENCES + _FRACTION),
    ("SetIntervalDecimal", _REFERENCES + ", const fmi3Float64 intervals[]"),
    ("SetIntervalFraction", _REFERENCES + _GIVEN),
    ("SetShiftDecimal", _REFERENCES + ", const fmi3Float64 shifts[]"),
    ("SetShiftFraction", _REFERENCES + _GIVEN),
    ("EvaluateDiscreteStates", ""),
    ("UpdateDiscreteStates", ", fmi3Boolean *need, fmi3Boolean *terminate, fmi3Boolean *nominals, fmi3Boolean *values, "
     "fmi3Boolean *defined, fmi3Float64 *next"),
    ("CompletedIntegratorStep", ", fmi3Boolean final, fmi3Boolean *event, fmi3Boolean *terminate"),
    ("SetTime", ", fmi3Float64 time"),
    ("SetContinuousStates", ", const fmi3Float64 states[], size_t count"),
    ("GetContinuousStates", ", fmi3Float64 states[], size_t count"),
    ("GetContinuousStateDerivatives", ", fmi3Float64 derivatives[], size_t count"),
    ("GetNominalsOfContinuousStates", ", fmi3Float64 nominals[], size_t count"),
    ("GetEventIndicators", ", fmi3Float64 indicators[], size_t count"),
    ("GetOutputDerivatives", _REFERENCES + ", const fmi3Int32 orders[], fmi3Float64 values[], size_t size"),
    ("ActivateModelPartition", ", fmi3ValueReference clock, fmi3Float64 time"),
)  # fmt: skip
