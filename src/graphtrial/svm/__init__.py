"""Support vector classification on precomputed Gram matrices (LIBSVM's algorithm), and cross-validation."""
