"""Plans AI clusters: which hardware, wired how, powered and cooled how, delivering what, costing what."""

__version__ = "0.1.0"
