/* What the server sends; made of `contract.py`. Types only: no script loads it. */
/** @typedef {[begin: number, end: number, thoughts: number]} Span */
/** @typedef {[agent: number, plan: string, index: number, name: string, t: number, t_hat: number, end_t: number|null, end_t_hat: number|null, status: string|null, reason: string|null]} Action */
/** @typedef {[t: number, t_hat: number, status: string, reason: string]} PlanStatus */
/** @typedef {[t: number, outcomes: Object<string, any>[], attempts: Object<string, any>[]]} Outcome */
/** @typedef {[t: number, threshold: number, spatial: number, temporal: number, participation: number, joint: number, dependency: number]} TaskState */
/** @typedef {[t: number, agent: number, name: string, gained: boolean]} CapabilityChange */
/** @typedef {[t: number, reached: number, goals: number, score: number]} Score */
/** @typedef {[t: number, t_hat: number, agent: number]} ForcedReady */
/** @typedef {[t: number, t_hat: number, what: string, agent: number, reason: string]} Interruption */
/** @typedef {[prompt: number, completion: number, reasoning: number, usd: number, untold: number, simulated: number]} Spent */
/** @typedef {[t: number, t_hat: number, agent: number, prompt: number, completion: number, reasoning: number, usd: number, untold: number, simulated: number]} Usage */
/** @typedef {[sender: number, recipient: number, what: string, sent: number, read: number, passed_over: number, read_late: number]} Traffic */
/** @typedef {[key: string, one: string, other: string]} Difference */
/** @typedef {[name: number, kind: number, x: number, y: number, width: number, height: number, label: string, title: string, agent: number, turn: string]} ChangedMark */
/** @typedef {[agent: number, points: number[], target: number[]]} ChangedWay */
/**
 * A thought. What follows its `problems` is left out while it goes on.
 * @typedef {object} Thought
 * @property {number} agent
 * @property {number} t
 * @property {number} begins
 * @property {string[]} acts
 * @property {string[]} problems
 * @property {number} [ends]
 * @property {string[]} [refused]
 * @property {Object<string, any>[]} [calls]
 * @property {number[][]} [numbers]
 */
/**
 * A message.
 * @typedef {object} Message
 * @property {number} t
 * @property {number} t_hat
 * @property {number} message
 * @property {number} sender
 * @property {number[]} recipients
 * @property {string} what
 * @property {string} content
 * @property {number} delivered_at
 * @property {boolean} feedback
 * @property {number[]} read
 * @property {number[]} passed_over
 * @property {any[]} reactions
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
 * @property {boolean} finished
 * @property {string} reason
 */
/**
 * What a run branches off.
 * @typedef {object} Branched
 * @property {string} run
 * @property {number} t
 * @property {number|null} t_hat
 * @property {string} change
 * @property {number} draw
 */
/**
 * What is known of an episode as a whole.
 * @typedef {object} Head
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
 */
/**
 * Answers `/api/run/NAME/progress`: while the run is read, and while it is under way.
 * @typedef {object} Progress
 * @property {number} read
 * @property {boolean} under_way
 * @property {number} size
 */
/**
 * Plans that were judged together before they begin, and found to fail; with a mode, a repair of them.
 * @typedef {object} Repair
 * @property {number} t
 * @property {number} begins
 * @property {string} predictor
 * @property {string} verdict
 * @property {Object<string, any>[]} violations
 * @property {string} [mode]
 * @property {number[]} [agents]
 * @property {Object<string, any>|null} [advice]
 * @property {number} [ends]
 * @property {string[]} [replaced]
 */
/**
 * Where cooperation fails in the interaction graph (`maeil.dig.patterns`), and what a healer has said of it.
 * @typedef {object} Finding
 * @property {number} t
 * @property {number} t_hat
 * @property {string} pattern
 * @property {number[]} agents
 * @property {number[]} messages
 * @property {string} subject
 * @property {number} count
 * @property {number} needed
 * @property {string} [says]
 * @property {number[]} [told]
 */
/**
 * Answers `/api/run/NAME/page/T`: what happened in a run of steps, by sort.
 * @typedef {object} Page
 * @property {number} first
 * @property {Span[]} spans
 * @property {any[][]} stages
 * @property {Thought[]} thoughts
 * @property {Message[]} messages
 * @property {Plan[]} plans
 * @property {Action[]} actions
 * @property {number[][]} joint
 * @property {Outcome[]} outcomes
 * @property {Task[]} tasks
 * @property {CapabilityChange[]} capabilities
 * @property {ForcedReady[]} forced
 * @property {Repair[]} repairs
 * @property {Finding[]} findings
 * @property {Interruption[]} interruptions
 * @property {Spent} spent
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
 * @property {string} mast
 * @property {number} agent
 * @property {number} t
 * @property {string} task
 * @property {Proof[]} proofs
 */
/**
 * A decision that made the team fail.
 * @typedef {object} Decision
 * @property {number} agent
 * @property {string} who
 * @property {number|null} t
 * @property {number|null} t_hat
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
 * @property {number|null} confidence
 * @property {number} reruns
 * @property {number} calls
 * @property {string} reason
 * @property {Decision[]} flips
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
 * @property {number} steps
 * @property {number[]} pages
 * @property {number[]} breaks
 * @property {TeamFailure[]|null} failures
 * @property {Verdict|null} verdict
 * @property {Score[]} scores
 * @property {Traffic[]} traffic
 * @property {number} calls
 * @property {number} size
 * @property {boolean} under_way
 */
/**
 * What differs in a picture from the one before it.
 * @typedef {object} Frame
 * @property {number[]} [g]
 * @property {number[]} [p]
 * @property {ChangedMark[]} [m]
 * @property {number[]} [d]
 * @property {string} [c]
 * @property {any[]} [h]
 */
/**
 * The pictures of a page; the first one is whole.
 * @typedef {object} Pictures
 * @property {number} first
 * @property {Canvas} canvas
 * @property {number[]} ground
 * @property {string[]} names
 * @property {boolean} ways
 * @property {Frame[]} frames
 */
/**
 * Answers `/api/run/NAME/film/T`: of the page of this step.
 * @typedef {object} Film
 * @property {Pictures|null} pictures
 * @property {Object<string, string>} primitives
 * @property {Object<string, string>} phrases
 * @property {string[]} problems
 */
/**
 * What differs in the ways of agents from those before.
 * @typedef {object} WayFrame
 * @property {number[]} [s]
 * @property {ChangedWay[]} [w]
 */
/**
 * Answers `/api/run/NAME/ways/T`: where actions lead, on the page of this step.
 * @typedef {object} Ways
 * @property {number} first
 * @property {WayFrame[]} frames
 * @property {string[]} problems
 */
/**
 * A message of a prompt.
 * @typedef {object} PromptMessage
 * @property {string} role
 * @property {string} content
 * @property {string[]} [pictures]
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
 * @property {number} content
 * @property {string[]} [pictures]
 */
/**
 * The calls of an exported page: each text of a prompt is there once.
 * @typedef {object} SharedCalls
 * @property {string[]} texts
 * @property {Object<string, any>[]} calls
 */
/**
 * The data of an exported page; each page of its lanes and pictures stands beside it.
 * @typedef {object} Exported
 * @property {Episode} episode
 * @property {SharedCalls} calls
 */
/**
 * The instant up to which two branches have one beginning.
 * @typedef {object} Parting
 * @property {number} t
 * @property {number|null} t_hat
 */
/**
 * Answers `/api/pair`, and `/api/pair/NAME/OTHER`: two runs of one board.
 * @typedef {object} Pair
 * @property {string[]} runs
 * @property {Difference[]} differences
 * @property {Parting|null} parting
 */
/**
 * A run in the table of a sweep, or in a tree of branches.
 * @typedef {object} RunLine
 * @property {string} run
 * @property {string} outcome
 * @property {boolean} simulated
 * @property {string} remark
 * @property {(string|number|boolean|null)[]} factors
 * @property {Object<string, number|null>} metrics
 * @property {Branched} [off]
 */
/**
 * Answers `/api/run/NAME/family`: the runs that lie beside it and have their beginning in common with it.
 * @typedef {object} Family
 * @property {string} path
 * @property {RunLine[]} runs
 * @property {number} left_out
 */
/**
 * Answers `/api/sweep`.
 * @typedef {object} SweepTable
 * @property {string} name
 * @property {string[]} problems
 * @property {number} missing
 * @property {boolean} simulated
 * @property {string[]} factors
 * @property {string[]} implied
 * @property {string[]} metrics
 * @property {string[]} shown
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
