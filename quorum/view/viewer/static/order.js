/* Binary search in ordered arrays. */

/** Index of the last number that is not above a value, in an ascending array; -1 if all are. */
export function lastUpTo(numbers, value) {
  return lastBy(numbers, (number) => number <= value);
}

/** Index of the last item for which a condition holds, if it holds exactly for the first items; -1 for none. */
export function lastBy(items, holds) {
  let low = -1;
  let high = items.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (holds(items[middle])) low = middle;
    else high = middle - 1;
  }
  return low;
}
