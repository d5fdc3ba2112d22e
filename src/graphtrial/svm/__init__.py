"""Support vector machines on Gram matrices, and cross-validation folds."""
