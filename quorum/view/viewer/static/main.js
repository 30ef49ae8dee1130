/* Opens the page that the document names. */
import { el, fill } from "./dom.js";
import { openEpisode } from "./episode.js";
import { openPair } from "./pair.js";
import { openSweep } from "./sweep.js";

const OPEN = { episode: openEpisode, pair: openPair, sweep: openSweep };

/** Open it; an error replaces the page. */
async function start() {
  const root = document.getElementById("main");
  const { page, run, up } = document.documentElement.dataset;
  fill(root, [el("p", { class: "soft loading" }, "reading\u2026")]);
  try {
    const opened = await OPEN[page](root, { run, up });
    window.quorum = opened;
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    fill(root, [el("p", { class: "problems", role: "alert" }, `The page cannot be shown: ${error.message}`)]);
    throw error;
  }
}

start();
