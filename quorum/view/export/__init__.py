"""Results for other tools: the runs of a folder as Parquet, as an Inspect log, as a data set and as OTLP traces."""
