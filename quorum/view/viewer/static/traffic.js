/* The fate of messages: sums over senders, recipients and kinds. */
import { shown } from "./text.js";

/** Sums of messages: `late` ones were read after the recipient had committed a plan, `never` ones were not read although it committed one; `open` ones are neither read nor ignored. */
export class Sums {
  constructor() {
    this.sent = 0;
    this.read = 0;
    this.passedOver = 0;
    this.late = 0;
  }

  add(sent, read, passedOver, late) {
    this.sent += sent;
    this.read += read;
    this.passedOver += passedOver;
    this.late += late;
  }

  get never() {
    return this.passedOver - this.late;
  }

  get open() {
    return this.sent - this.read - this.never;
  }

  /** In words. */
  words() {
    if (!this.sent) return "no messages";
    const parts = [`${shown(this.sent)} sent`, `${shown(this.read)} read`];
    if (this.passedOver) parts.push(`${shown(this.passedOver)} ignored: a plan came first (${shown(this.late)} read later, ${shown(this.never)} never)`);
    if (this.open) parts.push(`${shown(this.open)} not read yet`);
    return parts.join(", ");
  }
}

/** The messages of a range of steps by sender and recipient: `sums.get(sender * n + recipient)`, for one kind, or for all if it is empty. */
export function ofMessages(messages, n, kind = "") {
  const sums = new Map();
  for (const message of messages) {
    if (kind && message.what !== kind) continue;
    const read = new Set();
    for (let i = 0; i < message.read.length; i += 3) read.add(message.read[i]);
    const passed = new Set(message.passed_over);
    for (const recipient of message.recipients) {
      const [was, over] = [Number(read.has(recipient)), Number(passed.has(recipient))];
      of(sums, message.sender * n + recipient).add(1, was, over, was * over);
    }
  }
  return sums;
}

/** The same for the whole run. @param {import("./contract.js").Traffic[]} rows */
export function ofTraffic(rows, n, kind = "") {
  const sums = new Map();
  for (const [sender, recipient, what, sent, read, passedOver, late] of rows) {
    if (!kind || what === kind) of(sums, sender * n + recipient).add(sent, read, passedOver, late);
  }
  return sums;
}

/** The total. */
export function total(sums) {
  const all = new Sums();
  for (const { sent, read, passedOver, late } of sums.values()) all.add(sent, read, passedOver, late);
  return all;
}

function of(sums, key) {
  let found = sums.get(key);
  if (!found) sums.set(key, (found = new Sums()));
  return found;
}
