/* The look of stages, outcomes and constraints. The three share no colour: stages are square bars in cold blues and greys,
outcomes are round bars in green, red and amber, constraints are quarters of a row in violet, brown, teal and rose. */

export const STAGES = {
  R: { name: "reason", texture: "dots", colour: "stage-r", full: true },
  W: { name: "wait", texture: "plain", colour: "stage-w", full: false },
  X: { name: "execute", texture: "plain", colour: "stage-x", full: true },
  O: { name: "off turn", texture: "plain", colour: "line", full: false },
  I: { name: "interrupted", texture: "waves", colour: "stage-i", full: true },
};

/** The look of an action's end, by its recorded status. */
export const OUTCOMES = {
  success: { name: "success", colour: "ok", texture: "plain" },
  failed: { name: "failed", colour: "bad", texture: "crosses" },
  timeout: { name: "timed out", colour: "late", texture: "stripes" },
  cancelled: { name: "cancelled", colour: "cut", texture: "bricks" },
};
export const UNDER_WAY = { name: "not ended", colour: "running", texture: "plain" };

/** In the order of their quarters. */
export const CONSTRAINTS = ["spatial", "temporal", "participation", "dependency"].map((name, place) => ({ name, place, colour: `met-${place}` }));
