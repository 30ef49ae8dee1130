"""Control arms: what a participant reads is replaced, and all else stays as in the treatment.

Messages are sent, arrive, wake and interrupt as they would; only their readers find something else. `docs/controls.md`
says what a difference between two arms means.

| arm | what is read in the place of a message |
|---|---|
| `mute` | nothing |
| `null` | the message without its content |
| `own` | what the reader itself has said last |
| `shuffled` | what was said in the same step on another board |
| `truth` | what is true of its sender, by the rules of the world |

| module | what it holds |
|---|---|
| `arms` | the extension and its values, a class for each arm |
| `donors` | the file of what was said on another board |
| `statements` | what the skills of a world offer to `truth` |
"""
