/* What the server sends to the scripts, as JSON. Types only: no script loads this file.
 * An instant is the environment step `t` and the cognitive time `t_hat`; events of the same `t` are in the order of the trace.
 * `tests/experiments/viewer/test_contract.py` checks what the server sends against it. */
/** Of a `t`: the cognitive time when it began and when it ended, and how many thoughts ended in it. @typedef {[begin: number, end: number, thoughts: number]} Span */
/** A symbolic action; its end is null while it runs. @typedef {[agent: number, plan: string, index: number, name: string, t: number, t_hat: number, end_t: number|null, end_t_hat: number|null, status: string|null, reason: string|null]} Action */
/** @typedef {[t: number, t_hat: number, status: string, reason: string]} PlanStatus */
/** What a step did, and how the attempts at tasks came off. @typedef {[t: number, outcomes: Object<string, any>[], attempts: Object<string, any>[]]} Outcome */
/** The constraints of a task: numbers of agents, to be held against the threshold; `dependency` is 0 or 1. @typedef {[t: number, threshold: number, spatial: number, temporal: number, participation: number, joint: number, dependency: number]} TaskState */
/** @typedef {[t: number, agent: number, name: string, gained: boolean]} CapabilityChange */
/** @typedef {[t: number, reached: number, goals: number, score: number]} Score */
/** @typedef {[t: number, t_hat: number, agent: number]} ForcedReady */
/** A failure or an interruption; the agent is -1 where it is nobody's. @typedef {[t: number, t_hat: number, what: string, agent: number, reason: string]} Interruption */
/** Tokens and money of answered calls; how many do not tell them, and how many a simulated model answered. @typedef {[prompt: number, completion: number, reasoning: number, usd: number, untold: number, simulated: number]} Spent */
/** What a thought spent, at the instant of its end. @typedef {[t: number, t_hat: number, agent: number, prompt: number, completion: number, reasoning: number, usd: number, untold: number, simulated: number]} Usage */
/** The messages of a kind from one participant to another: a plan came before the reading of those passed over. @typedef {[sender: number, recipient: number, what: string, sent: number, read: number, passed_over: number, read_late: number]} Traffic */
/** What parts two configurations: a key, with the value of each. @typedef {[key: string, one: string, other: string]} Difference */
/** A mark that is new or changed; its name is an index into `names`, its agent -1 for none. @typedef {[name: number, kind: number, x: number, y: number, width: number, height: number, label: string, title: string, agent: number, turn: string]} ChangedMark */
/** Where an agent's action leads: points `x, y, x, y, ...`, and a target `x, y, width, height`, empty for none. Of the points of a way those are left out at which it goes straight on. @typedef {[agent: number, points: number[], target: number[]]} ChangedWay */
/**
 * A thought. What follows its `problems` is left out while it goes on.
 * @typedef {object} Thought
 * @property {number} agent
 * @property {number} t
 * @property {number} begins Cognitive time.
 * @property {string[]} acts
 * @property {string[]} problems
 * @property {number} [ends] Cognitive time.
 * @property {string[]} [refused]
 * @property {Object<string, any>[]} [calls]
 * @property {number[][]} [numbers] Of the records of each call, as they are asked for: one for each answer, and one for a request without any.
 */
/**
 * A message.
 * @typedef {object} Message
 * @property {number} t
 * @property {number} t_hat
 * @property {number} message Its number.
 * @property {number} sender
 * @property {number[]} recipients
 * @property {string} what
 * @property {string} content
 * @property {number} delivered_at Cognitive time.
 * @property {Object<string, any>[]} tasks The open tasks that it carries (`maeil.tasks.OpenTask.plain`).
 * @property {Object<string, string>|null} task What its sender says that it does itself.
 * @property {Object<string, any>[]|null} asks What it asks of others, each an `agent` and a `task`; null where its text alone says it.
 * @property {number[]} read `agent, t, t_hat`, for each participant that read it.
 * @property {any[]} instead `agent, content`, for each reader that a control arm gave something else to read; null: nothing.
 * @property {number[]} passed_over Recipients that committed a plan after it was delivered and before they read it, if they read it at all.
 * @property {any[]} reactions `agent, reaction`, for each recipient whose reaction is known (`maeil.dig.graph.Reaction`).
 */
/**
 * A plan.
 * @typedef {object} Plan
 * @property {string} id
 * @property {number} agent
 * @property {number} t
 * @property {number} t_hat
 * @property {Object<string, string>|null} task
 * @property {Object<string, any>[]} actions
 * @property {string} rationale
 * @property {string} flag
 * @property {PlanStatus[]} statuses
 */
/**
 * What became of the constraints of a task.
 * @typedef {object} Task
 * @property {string} name
 * @property {TaskState[]} changes
 */
/**
 * The end of the episode.
 * @typedef {object} End
 * @property {number} t
 * @property {string} outcome
 * @property {number} steps
 * @property {string} reason
 */
/**
 * What a run branches off.
 * @typedef {object} Branched
 * @property {string} run Name of that run.
 * @property {number} t
 * @property {number|null} t_hat Cognitive time of the instant; None: the start of the step.
 * @property {string} change What was changed from then on; empty for nothing.
 * @property {number} draw Which of several samples of the same change it is.
 */
/**
 * What is known of an episode as a whole.
 * @typedef {object} Head
 * @property {string} name
 * @property {Branched|null} off None where it branches off nothing.
 * @property {string[]} problems What is wrong with the run, a sentence each.
 * @property {string[]} agents
 * @property {string[]} coordinators
 * @property {Object<string, string>} minds The name of the mind of each participant, in a team that has several; else empty.
 * @property {boolean} simulated Whether a simulated model answered in it.
 * @property {Object<string, any>} facts
 * @property {Object<string, number|null>} metrics
 * @property {Object<string, any>} configuration
 */
/**
 * Answers `/api/run/NAME/progress`: while the run is read, and while it is under way.
 * @typedef {object} Progress
 * @property {number} read The share of its trace that has been read, from 0 to 1.
 * @property {boolean} under_way Whether it goes on just now.
 * @property {number} size Bytes of its trace.
 */
/**
 * Plans that were judged together before they begin, and found to fail; with a mode, a repair of them.
 * @typedef {object} Repair
 * @property {number} t
 * @property {number} begins
 * @property {string} predictor
 * @property {string} verdict `repair`; or why there was none: `cooldown`, `no_advice`.
 * @property {Object<string, any>[]} violations
 * @property {string} [mode]
 * @property {number[]} [agents] Whose plans were repaired.
 * @property {Object<string, any>|null} [advice]
 * @property {number} [ends] Missing while it is under way.
 * @property {string[]} [replaced] Ids of the plans that were given up.
 */
/**
 * Where cooperation fails in the interaction graph (`maeil.dig.patterns`).
 * @typedef {object} Finding
 * @property {number} t
 * @property {number} t_hat
 * @property {string} pattern
 * @property {number[]} agents Those concerned.
 * @property {number[]} messages Numbers of those that prove it.
 * @property {string} subject What it is about; empty where that is not one thing.
 * @property {number} count
 * @property {number} needed How many agents the task takes; 0 where that is no matter.
 */
/**
 * Answers `/api/run/NAME/page/T`: what happened in a run of steps, by sort.
 * What began before it and goes on in it stands in it, too.
 * @typedef {object} Page
 * @property {number} first The step it begins with.
 * @property {Span[]} spans
 * @property {any[][]} stages Of each participant: `t, t_hat, stage, reason, t, ...`.
 * @property {Thought[]} thoughts
 * @property {Message[]} messages
 * @property {Plan[]} plans
 * @property {Action[]} actions
 * @property {(number|string)[][]} joint
 * @property {Outcome[]} outcomes
 * @property {Task[]} tasks
 * @property {CapabilityChange[]} capabilities
 * @property {ForcedReady[]} forced
 * @property {Repair[]} repairs
 * @property {Finding[]} findings
 * @property {Interruption[]} interruptions
 * @property {Spent} spent Before this page.
 * @property {Usage[]} usage
 * @property {End|null} end
 */
/**
 * An event that a failure follows from.
 * @typedef {object} Proof
 * @property {number} t
 * @property {string} words
 */
/**
 * A failure of the team that the trace proves by rule.
 * @typedef {object} TeamFailure
 * @property {string} kind
 * @property {string} mast Its number in MAST.
 * @property {number} agent Whose failure it is.
 * @property {number} t When it shows: the step of its last proof.
 * @property {string} task
 * @property {Proof[]} proofs
 */
/**
 * A decision that made the team fail.
 * @typedef {object} Decision
 * @property {number} agent Whose it was; -1 where it names nobody, or nobody of this run.
 * @property {string} who The same as it stands in the file.
 * @property {number|null} t
 * @property {number|null} t_hat Cognitive time at which the thought of it began.
 * @property {string} kind
 */
/**
 * What `quorum blame` has found; empty where it does not say.
 * @typedef {object} Verdict
 * @property {number} agent
 * @property {string} who
 * @property {number|null} t
 * @property {number|null} t_hat
 * @property {string} kind
 * @property {string} method
 * @property {number|null} probability
 * @property {number} reruns
 * @property {number} calls
 * @property {string} reason
 * @property {Decision[]} flips Other decisions whose correction made a success of it.
 */
/**
 * What an agent believes of a fact, by its answer to a probe.
 * @typedef {object} Belief
 * @property {number} t
 * @property {number} t_hat
 * @property {number} agent
 * @property {string} fact The kind of fact.
 * @property {string} about
 * @property {string} truth
 * @property {string} answer
 * @property {number|null} hop How often the fact was passed on before it reached the agent; null: it never did.
 */
/**
 * Answers `/api/run/NAME/episode`.
 * @typedef {object} Episode
 * @property {string} name
 * @property {Branched|null} off
 * @property {string[]} problems
 * @property {string[]} agents
 * @property {string[]} coordinators
 * @property {Object<string, string>} minds
 * @property {boolean} simulated
 * @property {Object<string, any>} facts
 * @property {Object<string, number|null>} metrics
 * @property {Object<string, any>} configuration
 * @property {number} steps Steps of the environment that were taken.
 * @property {number[]} pages The step that each page begins with; there is one unless the trace is very long.
 * @property {number[]} breaks The steps with a failure or an interruption, ascending.
 * @property {TeamFailure[]|null} failures None where the trace is too long to look for them here, or wrong.
 * @property {Belief[]} beliefs The answers of a belief probe; empty in a run that is none.
 * @property {Verdict|null} verdict None where the folder has no `blame.json`.
 * @property {Score[]} scores
 * @property {Traffic[]} traffic
 * @property {number} calls Their number.
 * @property {number} size Bytes of its trace when it was read; while it goes on it grows.
 * @property {boolean} under_way Whether it went on when it was read; then there is more to come.
 */
/**
 * What differs in a picture from the one before it.
 * @typedef {object} Frame
 * @property {number[]} [g] Ground: `cell, kind, cell, kind, ...`.
 * @property {number[]} [p] Positions, of marks that only moved: `name, x, y, name, ...`.
 * @property {ChangedMark[]} [m]
 * @property {number[]} [d] Deleted: names of marks that are gone.
 * @property {string} [c] The caption.
 * @property {any[]} [h] What agents hold: `agent, holding, agent, ...`.
 * @property {string} [i] A picture of the whole board, below the marks: a data URL.
 */
/**
 * The pictures of a page; the first one is whole.
 * @typedef {object} Pictures
 * @property {number} first The step of the first one.
 * @property {Canvas} canvas
 * @property {number[]} ground The first one, in runs: `kind, cells, kind, cells, ...`.
 * @property {string[]} names Of all marks; pictures name a mark by its index.
 * @property {boolean} ways Whether the world shows where actions lead; then they can be asked for.
 * @property {Frame[]} frames One for each `t`.
 */
/**
 * Answers `/api/run/NAME/film/T`: of the page of this step.
 * @typedef {object} Film
 * @property {Pictures|null} pictures None where the world cannot be drawn at all.
 * @property {Object<string, string>} primitives The name of each primitive that was used, by its number.
 * @property {Object<string, string>} phrases How the world says its symbolic actions, by their names (`SymbolicAction.phrase`).
 * @property {string[]} problems Why there are fewer pictures than steps.
 */
/**
 * What differs in the ways of agents from those before.
 * @typedef {object} WayFrame
 * @property {number[]} [s] Agents that have gone on along their way, and where it now begins: `agent, x, y, agent, ...`.
 * @property {ChangedWay[]} [w]
 */
/**
 * Answers `/api/run/NAME/ways/T`: where actions lead, on the page of this step.
 * @typedef {object} Ways
 * @property {number} first The step of the first frame.
 * @property {WayFrame[]} frames One for each `t`; that of the first one is whole.
 * @property {string[]} problems Why there are fewer frames than steps.
 */
/**
 * A message of a prompt.
 * @typedef {object} PromptMessage
 * @property {string} role
 * @property {string} content
 * @property {string[]} [pictures] What names each, for `/api/run/NAME/picture/HASH`.
 */
/**
 * An answer that was not of the wanted form.
 * @typedef {object} Rejected
 * @property {string} text
 * @property {string} reasons
 */
/**
 * What a model answered.
 * @typedef {object} Reply
 * @property {string} text
 * @property {boolean} simulated
 * @property {Rejected[]} rejected
 */
/**
 * Why no answer came.
 * @typedef {object} Failure
 * @property {string} kind
 * @property {string} message
 */
/**
 * Answers `/api/run/NAME/call/NUMBER`.
 * @typedef {object} Call
 * @property {string} agent
 * @property {any} t
 * @property {PromptMessage[]} messages
 * @property {Reply} [reply]
 * @property {Failure} [failure]
 */
/**
 * A message of a prompt in an exported page.
 * @typedef {object} SharedMessage
 * @property {string} role
 * @property {number} content Index of its text.
 * @property {string[]} [pictures] What names each; they are in the folder of the run alone.
 */
/**
 * The calls of an exported page: each text of a prompt is there once.
 * @typedef {object} SharedCalls
 * @property {string[]} texts
 * @property {Object<string, any>[]} calls As `Call`, with `SharedMessage` for its messages.
 */
/**
 * The data of an exported page; each page of its lanes and pictures stands next to it.
 * @typedef {object} Exported
 * @property {Episode} episode
 * @property {SharedCalls} calls
 */
/**
 * The instant up to which two branches have one beginning.
 * @typedef {object} Parting
 * @property {number} t
 * @property {number|null} t_hat Cognitive time; None: the start of the step.
 */
/**
 * Answers `/api/pair`, and `/api/pair/NAME/OTHER`: two runs of one board.
 * @typedef {object} Pair
 * @property {string[]} runs Their names, as addresses have them.
 * @property {Difference[]} differences
 * @property {Parting|null} parting None where neither branches off the other, nor both off a third.
 */
/**
 * A run in the table of a sweep, or in a tree of branches.
 * @typedef {object} RunLine
 * @property {string} run
 * @property {string} outcome
 * @property {boolean} simulated
 * @property {string} remark
 * @property {(string|number|boolean|null)[]} factors As `SweepTable.factors` names them; none where the run has no results.
 * @property {Object<string, number|null>} metrics
 * @property {Branched} [off] Missing where it branches off nothing.
 */
/**
 * Answers `/api/run/NAME/family`: the runs next to it that share a beginning with it.
 * @typedef {object} Family
 * @property {string} path Its folder, for a command.
 * @property {RunLine[]} runs All of them, itself among them.
 * @property {number} left_out How many more there are.
 */
/**
 * Answers `/api/sweep`.
 * @typedef {object} SweepTable
 * @property {string} name
 * @property {string[]} problems
 * @property {number} missing Planned runs that are not there.
 * @property {boolean} simulated
 * @property {string[]} factors
 * @property {string[]} implied The factors whose value follows from the arm of a run.
 * @property {string[]} metrics
 * @property {string[]} shown The metrics that are shown at first; the others can be chosen.
 * @property {RunLine[]} rows
 */
/**
 * What stays as it is for a whole episode.
 * @typedef {object} Canvas
 * @property {number} width
 * @property {number} height
 * @property {MarkKind[]} kinds
 * @property {boolean} ruled
 * @property {number} margin
 */
/**
 * A kind of thing, as the legend shows it.
 * @typedef {object} MarkKind
 * @property {string} name
 * @property {string} light
 * @property {string} dark
 * @property {string} shape
 * @property {string} texture
 * @property {string} sign
 */
export {};
