"""Models outside Python: one time step of a model as a program, and this program as C, FMU and ONNX.

Modules:
    program: one time step of a model as a list of instructions
    lower: the program of a network or of a linear model
    feedback: the program of a model with feedback
    chains: states of nearly equal poles, without loss of digits
    functions: elementary functions of a program in NumPy
    run: run a program in NumPy on blocks of samples
    sample: run a program in NumPy sample by sample
    c_code: the program as C99
    fmu: the program as a functional mock-up unit
    fmi3: functions of FMI 3.0 that the FMU exports without an implementation
    onnx_file: write an ONNX graph to a file after a comparison with the model
    onnx_graph: instructions as nodes of an ONNX graph
    onnx_step: one time step as an ONNX graph
    onnx_window: a whole window as an ONNX graph
    linear_window: a linear model on a whole window, for exports
    validity: the range of the training inputs in words
"""
