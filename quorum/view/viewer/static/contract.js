/* The JSON that the server sends to the scripts. Types only: no script loads this file.
 * An instant is the environment step `t` and the cognitive time `t_hat`; events of the same `t` are in the order of the trace.
 * `tests/view/viewer/test_contract.py` checks the server's JSON against it. */
/** The cognitive time at the start and the end of a `t`, and the number of thoughts that ended in it. @typedef {[begin: number, end: number, thoughts: number]} Span */
/** A symbolic action; its end is null while it runs. @typedef {[agent: number, plan: string, index: number, name: string, t: number, t_hat: number, end_t: number|null, end_t_hat: number|null, status: string|null, reason: string|null]} Action */
/** @typedef {[t: number, t_hat: number, status: string, reason: string]} PlanStatus */
/** The outcomes of a step, and the results of attempts at tasks. @typedef {[t: number, outcomes: Object<string, any>[], attempts: Object<string, any>[]]} Outcome */
/** The constraints of a task: numbers of agents, to compare with the threshold; `dependency` is 0 or 1. @typedef {[t: number, threshold: number, spatial: number, temporal: number, participation: number, joint: number, dependency: number]} TaskState */
/** @typedef {[t: number, agent: number, name: string, gained: boolean]} CapabilityChange */
/** @typedef {[t: number, reached: number, goals: number, score: number]} Score */
/** @typedef {[t: number, t_hat: number, agent: number]} ForcedReady */
/** A failure or an interruption; the agent is -1 if it belongs to nobody. @typedef {[t: number, t_hat: number, what: string, agent: number, reason: string]} Interruption */
/** Tokens and money of answered calls, the number of calls that do not report them, and the number that a simulated model answered. @typedef {[prompt: number, completion: number, reasoning: number, usd: number, untold: number, simulated: number]} Spent */
/** The cost of a thought, at the instant of its end. @typedef {[t: number, t_hat: number, agent: number, prompt: number, completion: number, reasoning: number, usd: number, untold: number, simulated: number]} Usage */
/** The messages of a kind from one participant to another: a plan came before the reading of those passed over. @typedef {[sender: number, recipient: number, what: string, sent: number, read: number, passed_over: number, read_late: number]} Traffic */
/** A difference between two configurations: a key, with the value of each. @typedef {[key: string, one: string, other: string]} Difference */
/** A mark that is new or changed; its name is an index into `names`, its agent -1 for none. @typedef {[name: number, kind: number, x: number, y: number, width: number, height: number, label: string, title: string, agent: number, turn: string]} ChangedMark */
/** The path of an agent's action: points `x, y, x, y, ...`, and a target `x, y, width, height`, empty for none. The path contains only its turning points. @typedef {[agent: number, points: number[], target: number[]]} ChangedWay */
/**
 * A thought. The properties after `problems` are missing while it runs.
 * @typedef {object} Thought
 * @property {number} agent
 * @property {number} t
 * @property {number} begins Cognitive time.
 * @property {string[]} acts
 * @property {string[]} problems
 * @property {number} [ends] Cognitive time.
 * @property {string[]} [refused]
 * @property {Object<string, any>[]} [calls]
 * @property {number[][]} [numbers] Numbers of the records of each call, for requests: one for each answer, and one for a request without an answer.
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
 * @property {Object<string, any>[]} tasks The open tasks attached to it (`maeil.tasks.OpenTask.plain`).
 * @property {Object<string, string>|null} task The task that its sender says it does itself.
 * @property {Object<string, any>[]|null} asks Its requests to others, each an `agent` and a `task`; null if only its text contains them.
 * @property {number[]} read `agent, t, t_hat`, for each participant that read it.
 * @property {any[]} instead `agent, content`, for each reader that a control arm gave a replacement; null: nothing.
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
 * The changes of a task's constraints.
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
 * The branch point of a run.
 * @typedef {object} Branched
 * @property {string} run Name of that run.
 * @property {number} t
 * @property {number|null} t_hat Cognitive time of the instant; None: the start of the step.
 * @property {string} change The change from then on; empty for none.
 * @property {number} draw Number of the sample of the same change.
 */
/**
 * Data about an episode as a whole.
 * @typedef {object} Head
 * @property {string} name
 * @property {Branched|null} off None if it is not a branch.
 * @property {string[]} problems The problems of the run, a sentence each.
 * @property {string[]} agents
 * @property {string[]} coordinators
 * @property {Object<string, string>} minds The name of each participant's mind, in a team with several minds; else empty.
 * @property {boolean} simulated Whether a simulated model answered in it.
 * @property {Object<string, any>} facts
 * @property {Object<string, number|null>} metrics
 * @property {Object<string, any>} configuration
 */
/**
 * Answers `/api/run/NAME/progress`: while the run is read, and while it is under way.
 * @typedef {object} Progress
 * @property {number} read The share of its trace that has been read, from 0 to 1.
 * @property {boolean} under_way Whether the episode is running now.
 * @property {number} size Bytes of its trace.
 */
/**
 * Plans that were judged together before they start, and expected to fail; with a mode, their repair.
 * @typedef {object} Repair
 * @property {number} t
 * @property {number} begins
 * @property {string} predictor
 * @property {string} verdict `repair`; or the reason for no repair: `cooldown`, `no_advice`.
 * @property {Object<string, any>[]} violations
 * @property {string} [mode]
 * @property {number[]} [agents] The agents with repaired plans.
 * @property {Object<string, any>|null} [advice]
 * @property {number} [ends] Missing while it is under way.
 * @property {string[]} [replaced] IDs of the plans that were given up.
 */
/**
 * A failure of cooperation in the interaction graph (`maeil.dig.patterns`).
 * @typedef {object} Finding
 * @property {number} t
 * @property {number} t_hat
 * @property {string} pattern
 * @property {number[]} agents The agents concerned.
 * @property {number[]} messages Numbers of the messages that prove it.
 * @property {string} subject Its subject; empty if there is more than one.
 * @property {number} count
 * @property {number} needed How many agents the task needs; 0 if that does not apply.
 */
/**
 * Answers `/api/run/NAME/page/T`: the events in a range of steps, by kind.
 * It also contains items that started before it and continue in it.
 * @typedef {object} Page
 * @property {number} first Its first step.
 * @property {Span[]} spans
 * @property {any[][]} stages For each participant: `t, t_hat, stage, reason, t, ...`.
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
 * @property {Spent} spent Cost before this page.
 * @property {Usage[]} usage
 * @property {End|null} end
 */
/**
 * An event that proves a failure.
 * @typedef {object} Proof
 * @property {number} t
 * @property {string} words
 */
/**
 * A failure of the team that the trace proves by rule.
 * @typedef {object} TeamFailure
 * @property {string} kind
 * @property {string} mast Its number in MAST.
 * @property {number} agent The agent that failed.
 * @property {number} t The step of its last proof.
 * @property {string} task
 * @property {Proof[]} proofs
 */
/**
 * A decision that made the team fail.
 * @typedef {object} Decision
 * @property {number} agent The agent that made it; -1 if it names nobody, or nobody in this run.
 * @property {string} who The agent's name in the file.
 * @property {number|null} t
 * @property {number|null} t_hat Cognitive time at which its thought started.
 * @property {string} kind
 */
/**
 * The result of `quorum blame`; fields without a value are empty.
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
 * @property {Decision[]} flips Other decisions whose correction saved the run.
 */
/**
 * An agent's belief about a fact, by its answer to a probe.
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
 * @property {number} steps Number of environment steps.
 * @property {number[]} pages The first step of each page; there is one page unless the trace is very long.
 * @property {number[]} breaks The steps with a failure or an interruption, ascending.
 * @property {TeamFailure[]|null} failures None if the trace is too long to look for them here, or damaged.
 * @property {Belief[]} beliefs The answers of a belief probe; empty if the run is not a probe.
 * @property {Proof[]} why Why it did not succeed, a sentence each; empty if it did, or if nothing is certain.
 * @property {Verdict|null} verdict None if the folder has no `blame.json`.
 * @property {Score[]} scores
 * @property {Traffic[]} traffic
 * @property {number} calls Number of calls.
 * @property {number} size Bytes of its trace when it was read; a running trace grows.
 * @property {boolean} under_way Whether it was running when it was read; more follows.
 */
/**
 * The differences of a picture from the previous one.
 * @typedef {object} Frame
 * @property {number[]} [g] Ground: `cell, kind, cell, kind, ...`.
 * @property {number[]} [p] Positions of marks that only moved: `name, x, y, name, ...`.
 * @property {ChangedMark[]} [m]
 * @property {number[]} [d] Deleted: names of removed marks.
 * @property {string} [c] The caption.
 * @property {any[]} [h] The objects that agents hold: `agent, holding, agent, ...`.
 * @property {string} [i] A picture of the whole board, below the marks: a data URL.
 */
/**
 * The pictures of a page; the first one is whole.
 * @typedef {object} Pictures
 * @property {number} first The step of the first one.
 * @property {Canvas} canvas
 * @property {number[]} ground The first one, in runs: `kind, cells, kind, cells, ...`.
 * @property {string[]} names Names of all marks; pictures refer to a mark by its index.
 * @property {boolean} ways Whether the world shows the paths of actions, so that they can be requested.
 * @property {Frame[]} frames One for each `t`.
 */
/**
 * Answers `/api/run/NAME/film/T`: the page of this step.
 * @typedef {object} Film
 * @property {Pictures|null} pictures None if the world cannot be drawn.
 * @property {Object<string, string>} primitives The name of each primitive that was used, by its number.
 * @property {Object<string, string>} phrases The world's phrases for its symbolic actions, by name (`SymbolicAction.phrase`).
 * @property {string[]} problems Why there are fewer pictures than steps.
 */
/**
 * The differences of the agents' paths from the previous ones.
 * @typedef {object} WayFrame
 * @property {number[]} [s] Agents that have moved along their path, and its new start: `agent, x, y, agent, ...`.
 * @property {ChangedWay[]} [w]
 */
/**
 * Answers `/api/run/NAME/ways/T`: the paths of actions, on the page of this step.
 * @typedef {object} Ways
 * @property {number} first The step of the first frame.
 * @property {WayFrame[]} frames One for each `t`; the first one is whole.
 * @property {string[]} problems Why there are fewer frames than steps.
 */
/**
 * A message of a prompt.
 * @typedef {object} PromptMessage
 * @property {string} role
 * @property {string} content
 * @property {string[]} [pictures] The name of each, for `/api/run/NAME/picture/HASH`.
 */
/**
 * An answer that did not fit the schema.
 * @typedef {object} Rejected
 * @property {string} text
 * @property {string} reasons
 */
/**
 * The answer of a model.
 * @typedef {object} Reply
 * @property {string} text
 * @property {boolean} simulated
 * @property {Rejected[]} rejected
 */
/**
 * The reason for a missing answer.
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
 * @property {string[]} [pictures] The name of each; they are only in the folder of the run.
 */
/**
 * The calls of an exported page: each text of a prompt occurs once.
 * @typedef {object} SharedCalls
 * @property {string[]} texts
 * @property {Object<string, any>[]} calls As `Call`, with `SharedMessage` for its messages.
 */
/**
 * The data of an exported page; each page of its lanes and pictures is next to it.
 * @typedef {object} Exported
 * @property {Episode} episode
 * @property {SharedCalls} calls
 */
/**
 * The instant at which two branches diverge.
 * @typedef {object} Parting
 * @property {number} t
 * @property {number|null} t_hat Cognitive time; None: the start of the step.
 */
/**
 * Answers `/api/pair`, and `/api/pair/NAME/OTHER`: two runs of one board.
 * @typedef {object} Pair
 * @property {string[]} runs Their names, as in addresses.
 * @property {Difference[]} differences
 * @property {Parting|null} parting None if they do not share a beginning.
 */
/**
 * A run in the table of a sweep, or in a tree of branches.
 * @typedef {object} RunLine
 * @property {string} run
 * @property {string} outcome
 * @property {boolean} simulated
 * @property {string} remark
 * @property {(string|number|boolean|null)[]} factors As `SweepTable.factors` names them; none if the run has no results.
 * @property {Object<string, number|null>} metrics
 * @property {Branched} [off] Missing if it is not a branch.
 */
/**
 * Answers `/api/run/NAME/family`: the runs in its folder that share a beginning with it.
 * @typedef {object} Family
 * @property {string} path Its folder, for a command.
 * @property {RunLine[]} runs All of them, including itself.
 * @property {number} left_out Number of further runs.
 */
/**
 * Answers `/api/sweep`.
 * @typedef {object} SweepTable
 * @property {string} name
 * @property {string[]} problems
 * @property {number} missing Number of planned runs that are missing.
 * @property {boolean} simulated
 * @property {string[]} factors
 * @property {string[]} implied The factors implied by the arm of a run.
 * @property {string[]} metrics
 * @property {string[]} shown The metrics shown at first; the user can add others.
 * @property {RunLine[]} rows
 */
/**
 * Properties that stay the same for a whole episode.
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
