"""GraphTrial: a fair trial for every graph learning model."""
