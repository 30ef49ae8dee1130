"""Choice probes: the probability of each choice of a language model, under control arms of the messages that it heard.

| module | content |
|---|---|
| `arms` | the control arms: what a view contains in place of the messages |
| `decisions` | the decisions of a recorded run, with the prompt of each arm |
| `probabilities` | the probability of each choice, from the log-probabilities of a service |
| `probe` | measures the decisions of many runs |
| `table` | log-odds over boards: tables, CSV and the figure |
"""
