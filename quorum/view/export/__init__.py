"""Export the runs of a folder for other tools: Parquet, an Inspect log, a data set, OTLP traces, Who&When cases."""
