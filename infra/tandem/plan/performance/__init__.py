"""How fast an engine is: a roofline with measured rates and a calibration for each GPU and engine."""
