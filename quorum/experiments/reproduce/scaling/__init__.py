"""The scaling study of the CUBE page: step time, memory, CPU and the time of every symbolic action against n."""
