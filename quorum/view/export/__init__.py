"""Export the runs of a folder for other tools: Parquet, an Inspect log, a data set, Who&When cases."""
