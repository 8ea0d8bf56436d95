"""The nine benchmarks: files, samples, figures of merit, and published results.

Layouts and splits agree with the package `nonlinear_benchmarks` 1.0.1. The published figures are second-hand. They were
collected from papers and repositories, and some of them follow older versions of the protocols.
"""

from __future__ import annotations

from lfno.challenges.layout import Challenge, Part, Published, Sampling

#: where the data can be downloaded
SITE = "https://www.nonlinearbenchmark.org/benchmarks"
#: sources of the published figures
SUBNET = "SUBNET, Beintema, Schoukens and Tóth; quoted in arXiv:2405.10779"
CONTINUOUS = "continuous-time SUBNET, quoted in arXiv:2405.10779"
QUOTED = "quoted in arXiv:2405.10779"
DEFAULTS = "tsfast, its table of default settings"
MIRROR = "baseline_results in the repository of the data"

#: input levels of the fine steering mirror, as the file names them
_LEVELS = ("100mV", "200mV", "300mV")


def _mirror(kind: str) -> tuple[Part, ...]:
    """Return the parts of the fine steering mirror, one for each level. `kind` is "train" or "test"."""
    return tuple(
        Part(
            "combined_data.npz", f"u_{level}_{kind}", f"y_{level}_{kind}", level.replace("mV", " mV"), axes="tcrp",
            joined=kind == "train", periodic=True,
        )
        for level in _LEVELS
    )  # fmt: skip


def _circuit(start: int, stop: int, figure: str = "training") -> Part:
    """Return the samples start … stop − 1 of the Silverbox file."""
    return Part("SNLS80mV.mat", "V1", "V2", figure, start=start, stop=stop)


def _filter(start: int, stop: int, figure: str = "training") -> Part:
    """Return the samples start … stop − 1 of the Wiener–Hammerstein file."""
    return Part("WienerHammerBenchMark.mat", "uBenchMark", "yBenchMark", figure, start=start, stop=stop)


def _drives(start: int, stop: int | None) -> tuple[Part, ...]:
    """Return the samples start … stop − 1 of both records of the coupled drives; up to the end if `stop` is None."""
    names = {"11": "low amplitude", "12": "high amplitude"}
    return tuple(Part("DATAUNIF.MAT", f"u{k}", f"z{k}", name, start=start, stop=stop) for k, name in names.items())


def _parallel(kind: str) -> Part:
    """Return the parallel Wiener–Hammerstein records. `kind` is "Est" for training or "Val" for the test."""
    levels = tuple(f"amplitude {k}" for k in range(1, 6))
    return Part("ParWHData.mat", f"u{kind}", f"y{kind}", levels, axes="tprl", joined=True, periodic=True)


#: the benchmarks by name
CHALLENGES = {
    challenge.name: challenge
    for challenge in (
        Challenge(
            "fine-steering-mirror",
            "CubeSpec Fine Steering Mirror: three piezo voltages, three displacements, in steady state",
            figures=("100 mV", "200 mV", "300 mV"), unit="µm", scale=1e6, skip=100, sampling=Sampling(6400.0),
            training=_mirror("train"), test=_mirror("test"),
            published=(
                Published("linear, order 28, one model for each level", (0.114, 0.216, 0.228), MIRROR),
                Published("linear, one model for all levels", (0.252, 0.179, 0.658), MIRROR),
                Published("nonlinear LFR, one model for all levels", (0.0866, 0.131, 0.169), MIRROR),
            ),
            reference="M. Floren et al., Data-driven state-space identification and nonlinearity assessment of the CubeSpec "
            "Fine Steering Mirror, ISMA-USD 2024 (data: CC BY 4.0)",
        ),
        Challenge(
            "silverbox", "Silverbox: an electronic Duffing oscillator",
            figures=("multisine", "arrow", "arrow, no extrapolation"), unit="mV", scale=1e3, skip=50,
            sampling=Sampling(610.35), folder="Silverbox",
            training=(_circuit(40650, 105712),),
            test=(
                _circuit(105712, 127400, "multisine"), _circuit(100, 40575, "arrow"),
                _circuit(100, 32100, "arrow, no extrapolation"),
            ),
            published=(
                Published("SUBNET", (0.36, 1.4, 0.32), SUBNET),
                Published("Gaussian-process NARX", (0.301, 0.60, 0.259), QUOTED),
                Published("PNLSS", (None, 0.26, None), QUOTED),
                Published("GRU, default settings", (0.31, 1.31, 0.29), DEFAULTS),
            ),
            reference="T. Wigren and J. Schoukens, Three free data sets for development and benchmarking in nonlinear system "
            "identification, ECC 2013",
        ),
        Challenge(
            "wiener-hammerstein", "Wiener–Hammerstein: a circuit of filter, diode and filter",
            figures=("test",), unit="mV", scale=1e3, skip=50, sampling=Sampling(array="fs"), folder="WienerHammerBenchMark",
            training=(_filter(5200, 105200),), test=(_filter(105200, 184000, "test"),),
            published=(
                Published("SUBNET", (0.241,), SUBNET),
                Published("PNLSS", (0.42,), QUOTED),
                Published("GRU, default settings, best run", (0.56,), DEFAULTS),
                Published("GRU, default settings, worst run", (0.60,), DEFAULTS),
            ),
            reference="J. Schoukens, J. Suykens and L. Ljung, Wiener–Hammerstein benchmark, SYSID 2009",
        ),
        Challenge(
            "bouc-wen", "Bouc–Wen: an oscillator with hysteresis, simulated",
            figures=("multisine", "sine sweep"), unit="m", scale=1.0, skip=0, sampling=Sampling(750.0), folder="BoucWen",
            training=(),
            test=(
                Part("uval_multisine.mat", "uval_multisine", "yval_multisine", "multisine", periodic=True,
                     outputs_file="yval_multisine.mat"),
                Part("uval_sinesweep.mat", "uval_sinesweep", "yval_sinesweep", "sine sweep", rest=True,
                     outputs_file="yval_sinesweep.mat"),
            ),
            published=(
                Published("PNLSS", (1.87e-5, None), QUOTED),
                Published("dynoNet", (4.52e-5, None), QUOTED),
            ),
            reference="J.P. Noël and M. Schoukens, Hysteretic benchmark with a dynamic nonlinearity, doi:10.4121/12967592",
            note="There is no official training part: every author simulates one, here with `lfno.challenges.bouc_wen`.",
        ),
        Challenge(
            "cascaded-tanks", "Cascaded tanks with overflow",
            figures=("test",), unit="V", scale=1.0, skip=50, sampling=Sampling(array="Ts", holds="step"),
            folder="Cascaded_Tanks",
            training=(Part("dataBenchmark.mat", "uEst", "yEst", "training"),),
            test=(Part("dataBenchmark.mat", "uVal", "yVal", "test"),),
            published=(
                Published("grey box", (0.191,), QUOTED),
                Published("continuous-time SUBNET", (0.306,), CONTINUOUS),
                Published("GRU", (0.396,), QUOTED),
            ),
            reference="M. Schoukens and J.P. Noël, Three benchmarks addressing open challenges in nonlinear system "
            "identification, IFAC 2017",
        ),
        Challenge(
            "emps", "EMPS: an electro-mechanical positioning system with friction",
            figures=("test",), unit="mm", scale=1e3, skip=20, sampling=Sampling(array="t", holds="times"), folder="EMPS",
            training=(Part("DATA_EMPS.mat", "vir", "qm", "training"),),
            test=(Part("DATA_EMPS_PULSES.mat", "vir", "qm", "test"),),
            published=(
                Published("dynoNet", (2.64,), QUOTED),
                Published("continuous-time SUBNET", (4.61,), CONTINUOUS),
            ),
            reference="A. Janot, M. Gautier and M. Brunot, Data set and reference models of EMPS, Workshop on Nonlinear "
            "System Identification Benchmarks 2019",
        ),
        Challenge(
            "coupled-drives", "Coupled electric drives: two short records, the output is a speed without sign",
            figures=("low amplitude", "high amplitude"), unit="ticks/s", scale=1.0, skip=10, sampling=Sampling(50.0),
            folder="CED", training=_drives(0, 400), test=_drives(400, None),
            published=(Published("continuous-time SUBNET", (0.115, 0.074), CONTINUOUS),),
            reference="T. Wigren and M. Schoukens, Coupled electric drives data set and reference models, Uppsala 2017",
        ),
        Challenge(
            "f-16", "F-16: ground vibration test of an aircraft, acceleration at the first sensor",
            figures=(), unit="m/s²", scale=1.0, skip=50, sampling=Sampling(array="Fs"), folder="F16",
            training=(
                Part("F16Data_FullMSine_*.mat", "Force", "Acceleration", without="Validation", axes="ct", channels=(0,)),
                Part("F16Data_SineSw_*.mat", "Force", "Acceleration", without="Validation", axes="ct", channels=(0,)),
            ),
            test=(
                Part("F16Data_FullMSine_*Validation*.mat", "Force", "Acceleration", axes="ct", channels=(0,)),
                Part("F16Data_SineSw_*Validation*.mat", "Force", "Acceleration", axes="ct", channels=(0,)),
            ),
            published=(),
            reference="J.P. Noël and M. Schoukens, F-16 aircraft benchmark based on ground vibration test data, Workshop on "
            "Nonlinear System Identification Benchmarks 2017",
        ),
        Challenge(
            "parallel-wiener-hammerstein", "Parallel Wiener–Hammerstein: two branches of filter, nonlinearity and filter",
            figures=tuple(f"amplitude {k}" for k in range(1, 6)), unit="mV", scale=1e3, skip=50,
            sampling=Sampling(array="fs"), folder="ParWH", training=(_parallel("Est"),), test=(_parallel("Val"),),
            published=(Published("nonlinear LFR", (None, None, None, None, 1.20), QUOTED),),
            reference="M. Schoukens et al., Parametric identification of parallel Wiener–Hammerstein systems, Automatica 2015",
        ),
    )
}  # fmt: skip
