CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (
    id TEXT PRIMARY KEY,
    spec TEXT NOT NULL,
    dataset TEXT NOT NULL,
    model TEXT NOT NULL,
    metric TEXT NOT NULL,
    higher_is_better INTEGER NOT NULL,
    status TEXT NOT NULL,
    starts INTEGER NOT NULL,
    started REAL NOT NULL,
    finished REAL,
    params INTEGER,
    epochs INTEGER,
    epoch_seconds REAL,
    train REAL,
    val REAL,
    test REAL,
    error TEXT,
    environment TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE epochs (
    trial TEXT NOT NULL REFERENCES trials (id),
    epoch INTEGER NOT NULL,
    lr REAL NOT NULL,
    train_loss REAL NOT NULL,
    val_loss REAL NOT NULL,
    val_score REAL NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (trial, epoch)
) WITHOUT ROWID;
