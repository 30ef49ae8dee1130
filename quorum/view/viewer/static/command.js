/* The command for a branch at the cursor, quoted for a shell, to show and copy. */
import { button, el, fill, say } from "./dom.js";
import { short, visible } from "./text.js";

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
const DIGITS = 12;
/** Placeholder in the command for a value that the user chooses. */
const MIND = "MIND";

/** Quote an argument for a shell. Characters that a page would show differently are written as their numbers, so the copied text is the shown text. */
export function quoted(name) {
  const word = name.replaceAll("\0", "\ufffd"); // a shell argument cannot contain it
  if (PLAIN.test(word)) return word;
  if (visible(word) === word && !/[\n\t]/.test(word)) return `'${word.replaceAll("'", "'\\''")}'`;
  const signs = Array.from(word, (sign) => (visible(sign) === sign && !"\n\t".includes(sign) ? sign.replace(/[\\']/g, "\\$&") : number(sign)));
  return `$'${signs.join("")}'`;
}

function number(sign) {
  const code = sign.codePointAt(0);
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`;
}

function hex(code, digits) {
  return code.toString(16).padStart(digits, "0");
}

/** An instant in the format of `--at`, rounded down. @param {number} t @param {number} [tHat] */
export function instantOption(t, tHat) {
  if (tHat === undefined || tHat === null || !(tHat >= 0 && tHat < 1e12)) return String(t);
  if (/^\d+(\.\d{1,12})?$/.test(String(tHat))) return `${t}:${tHat}`;
  const [whole, rest = ""] = tHat.toFixed(20).split(".");
  return `${t}:${whole}.${rest.slice(0, DIGITS)}`;
}

/**
 * Return the branch point: the thought behind the selection, or the step of the cursor.
 * @param {import("./model.js").Model} model
 * @param {number} t of the cursor
 * @param {number} chosen agent, or -1
 * @param {{ sort: string, item: any }|null} opened the item in the reader
 * @returns {{ at: string, options: string[][], meaning: string }} arguments of the command, and their meaning
 */
export function branchAt(model, t, chosen, opened) {
  const { sort, item } = opened ?? {};
  const there = item && item.t === t;
  const mind = (agent) => ["--mind", `${model.name(agent)}=${MIND}`];
  const named = (agent) => agent >= 0 && agent < model.names.length;
  if (there && sort === "message") {
    const thought = thoughtOf(model, item.sender, (found) => found.t === t && found.ends === item.t_hat);
    return { at: instantOption(t, thought?.begins), options: [["--drop", String(item.message)]], meaning: `Without message ${item.message}, from the thought that sends it.` };
  }
  if (there && sort === "plan") {
    const thought = thoughtOf(model, item.agent, (found) => found.t === t && found.ends === item.t_hat);
    return { at: instantOption(t, thought?.begins), options: [["--plan", `${model.name(item.agent)}:${JSON.stringify(item.actions)}`]], meaning: "With this plan: change its actions." };
  }
  if (there && sort === "thought") return { at: instantOption(t, item.begins), options: [mind(item.agent)], meaning: `From this thought of ${model.name(item.agent)} on, with another mind: replace ${MIND} with its name.` };
  if (named(chosen)) return { at: String(t), options: [mind(chosen)], meaning: `${model.name(chosen)} with another mind from this step on: replace ${MIND} with its name.` };
  return { at: String(t), options: [], meaning: "Without a change, the branch equals the run. Choose an agent, a message, a plan or a thought of this step, or add --set, --mind, --say or --plan." };
}

function thoughtOf(model, agent, test) {
  return model.thoughtsOf[agent]?.find(test);
}

/** Write the command. @param {string} path of the run's folder */
export function commandText(path, { at, options }) {
  const folder = path.startsWith("-") ? `./${path}` : path;
  return ["quorum", "branch", folder, "--at", at, ...options.flat()].map(quoted).join(" ");
}

/** The box that shows the command. */
export class CommandBox {
  constructor() {
    this.text = el("pre", { class: "command", dir: "ltr", tabIndex: 0, "aria-label": "the command" });
    this.meaning = el("p", { class: "soft" });
    this.copied = el("span", { class: "soft", role: "status" });
    this.root = el("dialog", { class: "help command-box", "aria-label": "a branch from here" },
      el("h2", {}, "A branch from here"), this.text, this.meaning,
      el("p", {}, button("copy", "copy the command", () => this.#copy()), " ", button("close", "close", () => this.root.close()), " ", this.copied));
  }

  /** Show the command. */
  show(path, branch) {
    this.command = commandText(path, branch);
    fill(this.text, branch.options.some(([option]) => option === "--mind") ? marked(this.command) : [this.command]);
    say(this.meaning, short(branch.meaning, 400));
    say(this.copied, "");
    this.root.showModal();
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(this.command);
      say(this.copied, "copied");
    } catch {
      window.getSelection().selectAllChildren(this.text);
      say(this.copied, "the command is selected: copy it with your keyboard");
    }
  }
}

/** The command with its placeholder marked: the last one, which ends its argument. */
function marked(command) {
  const from = command.lastIndexOf(`=${MIND}`) + 1;
  return [command.slice(0, from), el("mark", {}, MIND), command.slice(from + MIND.length)];
}
