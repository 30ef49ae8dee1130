/* The differences between two runs: items that only one of them has at a step. */

const SORTS = ["thought", "message", "plan", "action", "repair", "finding", "failure"];
const SEEN = ["kind", "x", "y", "width", "height", "label", "agent", "turn"];

/** The identity of an item: without its number and its cognitive time, which the tokens of other models shift. */
const SUBSTANCE = {
  thought: ({ agent, acts, refused }) => [agent, acts, refused ?? null],
  message: ({ sender, recipients, what, content }) => [sender, recipients, what, content],
  plan: ({ agent, task, actions }) => [agent, task, actions],
  action: ({ agent, plan, index, name, endT, status }, model) => [agent, name, endT, status, model.plansById.get(plan)?.actions[index] ?? null],
  repair: ({ predictor, verdict, violations, mode, agents }) => [predictor, verdict, violations, mode ?? "", agents ?? []],
  finding: ({ pattern, agents, subject }) => [pattern, agents, subject],
  failure: ({ kind, agent, task }) => [kind, agent, task],
};

/** All items of a page that can differ, by kind. @param {import("./model.js").Model} model */
function itemsOf(model) {
  return {
    thought: model.thoughtsOf.flat(),
    message: model.messages,
    plan: model.plain.plans,
    action: model.actionsOf.flat(),
    repair: model.repairs,
    finding: model.findings,
    failure: model.failures,
  };
}

function keyOf(sort, item, model) {
  return JSON.stringify([item.t, SUBSTANCE[sort](item, model)]);
}

/**
 * Find the items of a page that the other run does not have at the same step.
 * @param {import("./model.js").Model} model
 * @param {import("./model.js").Model[]} others the pages of the other run that have its steps
 * @returns {Map<object, string>} the items, with their kind
 */
export function differing(model, others) {
  const found = new Map();
  const own = itemsOf(model);
  const otherItems = others.map(itemsOf);
  for (const sort of SORTS) {
    const there = new Map();
    otherItems.forEach((items, place) => {
      for (const item of items[sort]) {
        if (place && item.t < others[place].first) continue; // it continues from the previous page, which also has it
        const key = keyOf(sort, item, others[place]);
        there.set(key, (there.get(key) ?? 0) + 1);
      }
    });
    for (const item of own[sort]) {
      const key = keyOf(sort, item, model);
      const left = there.get(key) ?? 0;
      if (left) there.set(key, left - 1);
      else found.set(item, sort);
    }
  }
  return found;
}

/** Summarize the differences. @param {Map<object, string>} found */
export function differingWords(found) {
  const sorts = [...found.values()];
  const counts = SORTS.map((sort) => [sort, sorts.filter((other) => other === sort).length]).filter(([, count]) => count);
  return counts.map(([sort, count]) => `${count} ${sort}${count === 1 ? "" : "s"}`).join(", ") || "nothing";
}

/** The steps at which something differs, ascending. @param {Map<object, string>[]} found */
export function differingSteps(found) {
  return [...new Set(found.flatMap((items) => [...items.keys()].map(({ t }) => t)))].sort((one, other) => one - other);
}

/**
 * Find the places at which two pictures of one board differ.
 * @param {number} columns of the board
 * @returns {number[][]} `x, y, width, height` of each
 */
export function differingPlaces(one, other, columns) {
  const places = new Map();
  const add = (x, y, width, height) => places.set(`${x} ${y} ${width} ${height}`, [x, y, width, height]);
  one.ground.forEach((kind, cell) => {
    if (kind !== other.ground[cell]) add(cell % columns, Math.floor(cell / columns), 1, 1);
  });
  const cover = ({ x, y, width, height }) => {
    const [left, top] = [Math.floor(x), Math.floor(y)];
    add(left, top, Math.ceil(x + width) - left, Math.ceil(y + height) - top);
  };
  for (const name of new Set([...one.marks.keys(), ...other.marks.keys()])) {
    const [a, b] = [one.marks.get(name), other.marks.get(name)];
    if (a && b && SEEN.every((key) => a[key] === b[key])) continue;
    for (const mark of [a, b]) if (mark) cover(mark);
  }
  return [...places.values()];
}
