"""The commands of the reproduction.

Modules:
    reproduce: `lfno reproduce`
    report: `lfno report`
"""
