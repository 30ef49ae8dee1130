/* The source of the page's data: its server, or its own file. */

const PROGRESS_PAUSE = 500;

/**
 * @typedef {object} Source
 * @property {(tell: (share: number) => void) => Promise<import("./contract.js").Episode>} episode `tell` is called while a long run is read
 * @property {(t: number, number: number) => Promise<import("./contract.js").Page>} page the page with this number, which starts at `t`
 * @property {(t: number, number: number) => Promise<import("./contract.js").Film>} film its pictures
 * @property {(t: number, number: number) => Promise<import("./contract.js").Ways>} ways the paths of its actions
 * @property {(number: number) => Promise<import("./contract.js").Call>} call
 * @property {(words: string) => Promise<number[]>} search the numbers of calls
 * @property {(hash: string) => string|null} picture the address of a picture of a prompt; null in a page without them
 * @property {() => Promise<import("./contract.js").Family>} [family] the runs that share a beginning with it; a file has no others
 * @property {() => Promise<import("./contract.js").Progress>} [progress] the progress of the run; a file does not grow
 */

/**
 * Open the source of a run.
 * @param {number} place index of the run on this page.
 * @returns {Promise<Source>}
 */
export async function openSource(run, up, place = 0) {
  const packed = document.getElementById(`data-${place}`);
  return packed ? exported(await unpacked(packed), place) : served(`${up}api/run/${encodeURIComponent(run)}`);
}

/**
 * Request the two runs to show side by side.
 * @param {string} up address of the front page @param {string} picked address of the picked pair
 * @returns {Promise<import("./contract.js").Pair>}
 */
export async function askPair(up, picked) {
  const packed = document.getElementById("pair");
  return packed ? unpacked(packed) : ask(up ? `${up}api/pair/${picked}` : "api/pair");
}

/** Whether this is a page of an exported sweep, whose pages are files. */
export function isSite() {
  return "end" in document.documentElement.dataset;
}

/** The address of the page of a run; null in the file of two runs, which has no other page. */
export function pageOf(run, up) {
  return document.getElementById("pair") ? null : `${up}run/${encodeURIComponent(run)}${document.documentElement.dataset.end ?? ""}`;
}

/** The address of the first page. */
export function frontOf(up) {
  return isSite() ? `${up}index.html` : up;
}

/**
 * Request the runs of a sweep.
 * @returns {Promise<import("./contract.js").SweepTable>}
 */
export async function askSweep(up) {
  const packed = document.getElementById("sweep");
  return packed ? unpacked(packed) : ask(`${up}api/sweep`);
}

/** Ask the server for JSON. */
export async function ask(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status}: ${(await answer.text()).trim()}`);
  return answer.json();
}

function served(base) {
  return {
    episode: async (tell) => {
      const progress = setInterval(() => ask(`${base}/progress`).then(({ read }) => tell(read), () => {}), PROGRESS_PAUSE);
      try {
        return await ask(`${base}/episode`);
      } finally {
        clearInterval(progress);
      }
    },
    page: (t) => ask(`${base}/page/${t}`),
    film: (t) => ask(`${base}/film/${t}`),
    ways: (t) => ask(`${base}/ways/${t}`),
    call: (number) => ask(`${base}/call/${number}`),
    search: (words) => ask(`${base}/search?q=${encodeURIComponent(words)}`),
    picture: (hash) => `${base}/picture/${encodeURIComponent(hash)}`,
    family: () => ask(`${base}/family`),
    progress: () => ask(`${base}/progress`),
  };
}

async function unpacked(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

/** @param {import("./contract.js").Exported} data */
function exported(data, place) {
  const { texts, calls } = data.calls;
  const whole = (message) => ({ ...message, content: texts[message.content] });
  const call = (number) => ({ ...calls[number], messages: calls[number].messages.map(whole) });
  return {
    episode: async () => data.episode,
    page: (_, number) => unpacked(document.getElementById(`page-${place}-${number}`)),
    film: (_, number) => unpacked(document.getElementById(`film-${place}-${number}`)),
    ways: (_, number) => unpacked(document.getElementById(`ways-${place}-${number}`)),
    call: async (number) => call(number),
    search: async (words) => {
      const wanted = words.toLowerCase();
      const found = [];
      for (let number = 0; number < calls.length && found.length < 200; number++) {
        if (JSON.stringify(call(number)).toLowerCase().includes(wanted)) found.push(number);
      }
      return found;
    },
    picture: () => null,
  };
}
