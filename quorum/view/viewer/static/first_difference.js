/* The first step at which two episodes of one board look different. */
import { differingPlaces } from "./differs.js";
import { Film } from "./film.js";

/**
 * Find it, as far as both episodes go and are drawn.
 * @param {{ plain: import("./contract.js").Episode, pages: import("./pages.js").Pages }[]} sides two of them.
 * @returns {Promise<{ t: number|null, until: number, drawn: boolean }>} `t` is null if there is none `until` a step; `drawn`: whether both pictures reach the end of the shorter episode.
 */
export async function firstDifference(sides) {
  const last = Math.min(...sides.map(({ plain }) => plain.steps));
  const reels = sides.map(({ pages }) => new Reel(pages));
  for (let t = 0; t <= last; t++) {
    const [one, other] = [await reels[0].at(t), await reels[1].at(t)];
    if (!one || !other) return { t: null, until: t - 1, drawn: false };
    if (differingPlaces(one, other, 1).length) return { t, until: t, drawn: true };
  }
  return { t: null, until: last, drawn: true };
}

/** The pictures of an episode, read page by page in the order of time. */
class Reel {
  /** @param {import("./pages.js").Pages} pages */
  constructor(pages) {
    this.pages = pages;
    this.number = -1;
    this.film = null;
  }

  /** The picture at `t`; null if there is none. */
  async at(t) {
    const number = this.pages.number(t);
    if (number !== this.number) {
      const { pictures } = await this.pages.film(number);
      this.number = number;
      this.film = pictures && new Film(pictures);
    }
    return this.film && t <= this.film.last ? this.film.at(t) : null;
  }
}
