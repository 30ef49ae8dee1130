/* A summary of an episode in a few lines, shown in the reader until the user clicks something. */
import { el } from "./dom.js";
import { instantLink } from "./links.js";
import { shown } from "./text.js";
import { ofTraffic, total } from "./traffic.js";
import { usageWords } from "./usage.js";
import { verdictLines } from "./verdict.js";

/** Make the lines. @param seek called with the `t` of a link. */
export function summary(model, seek) {
  const { episode, names, usage, axis, final } = model;
  const [, reached, goals, score] = episode.scores.at(-1) ?? [0, 0, 0, 0];
  const { outcome, reason } = episode.facts;
  const sums = total(ofTraffic(episode.traffic, names.length));
  const broken = episode.breaks.length;
  const lines = [
    ...episode.why.map(({ t, words }) => [el("bdi", {}, words), " ", instantLink(seek, t)]),
    [`${episode.under_way ? "Under way" : outcome ? `Ended: ${outcome}` : "No end is recorded"}, ${shown(episode.steps)} steps${reason ? ` (${reason})` : ""}.`],
    episode.scores.length ? [`${goals ? `${shown(reached)} of ${shown(goals)} goals reached, score` : "Score"} ${shown(score)}.`] : null,
    [sums.sent ? `Messages, by recipient: ${sums.words()}.` : "Nobody wrote a message."],
    usage.any ? [`Language models${final ? "" : ", up to the end of these steps"}: ${usageWords(usage.upTo(axis.length))}.`] : ["No language model was called."],
    broken ? [`Failures and interruptions in ${broken === 1 ? "one step" : `${shown(broken)} steps`}, the first at `, instantLink(seek, episode.breaks[0]), " (n: the next one)."] : episode.why.length || model.findings.length ? null : ["No failure and no interruption."],
  ];
  return [
    el("h2", {}, "The episode"),
    el("ul", { class: "summary" }, lines.filter(Boolean).map((parts) => el("li", {}, parts))),
    episode.verdict ? [el("h3", {}, "Who made it fail"), verdictLines(model, episode.verdict, seek)] : null,
    el("p", { class: "soft" }, "Click on a message, a plan, a thought or a constraint to read it here."),
  ];
}
