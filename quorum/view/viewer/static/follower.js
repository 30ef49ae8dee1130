/* Follows a running episode: checks regularly for new data, until the run is complete. */

const PAUSE = 2000;
const SHARE = 5;

/**
 * Follow a run until it is over.
 * @param {import("./sources.js").Source} source
 * @param {import("./contract.js").Episode} episode as read last.
 * @param on `grown(episode)`, a promise, and `lost(reason)`, called if the server does not answer.
 */
export async function follow(source, episode, on) {
  let { size } = episode;
  let pause = PAUSE;
  while (episode.under_way) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const begin = performance.now();
    try {
      const progress = await source.progress();
      if (progress.under_way && progress.size === size) continue;
      episode = await source.episode(() => {});
      await on.grown(episode);
      size = episode.size;
      pause = Math.max(PAUSE, SHARE * (performance.now() - begin)); // a long run is read again as a whole
    } catch (error) {
      size = -1;
      on.lost(error.message);
    }
  }
}
