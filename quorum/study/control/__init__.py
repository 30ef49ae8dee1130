"""Control arms: replace what a participant reads, and keep everything else as in the treatment.

Messages are sent, arrive, wake and interrupt as usual; only the content that readers see changes. `docs/controls.md`
explains what a difference between two arms means.

| arm | what is read instead of a message |
|---|---|
| `mute` | nothing |
| `null` | the message without its content |
| `own` | the message with the reader's own last text |
| `shuffled` | a message of the same step on another board |
| `truth` | a true statement about its sender, by the rules of the world |

| module | content |
|---|---|
| `arms` | the extension and its values, a class for each arm |
| `statements` | what the skills of a world offer to `truth` |
"""
