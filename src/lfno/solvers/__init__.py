"""Numerical solvers of differential equations, for many samples at once.

Modules:
    rk4: the classical Runge–Kutta method for systems of ordinary differential equations with forcing
    etdrk4: fourth-order exponential time differencing
    exponential: exponential collocation in time
    vorticity: two-dimensional flow on a torus, pseudo-spectral
    cole_hopf: the exact solution of Burgers' equation
    modes: vibration and diffusion modes on an interval
    series: exact solutions of the heat and beam equations, for checks
    chebyshev: Chebyshev collocation with a stiff solver, for checks
"""
