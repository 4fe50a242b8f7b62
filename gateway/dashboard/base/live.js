// One stream of changes for the tab. A hidden tab has none; when it is seen again, every view loads what it shows.
import { addressOf, watcher } from "./api.js";
import { effect, signal } from "./html.js";
import { may } from "./session.js";

/**
 * What a view hears: that these things happened, or (null) that anything may have happened meanwhile.
 * @typedef {(changes: any[] | null) => void} Listener
 * @typedef {"changes" | "schedules" | "logs" | "progress"} Sort of what is heard: an event of the stream
 */

/** Whether people have stopped the updates. */
export const isPaused = signal(false);
/** "off", "connecting" or "on". */
export const state = signal("off");

const filter = signal("");
const isHidden = signal(document.hidden);
const isDeaf = signal(false);
/** @type {Map<Listener, Sort>} */
const listeners = new Map();
/** @type {EventSource | null} */
let source = null;
let hasMissed = false;

/** @type {Sort[]} */
const SORTS = ["changes", "schedules", "logs", "progress"];

/** @param {any[] | null} changes @param {Sort} [sort] */
const send = (changes, sort) => listeners.forEach((wanted, listener) => (sort === undefined || sort === wanted) && listener(changes));

function open() {
  source = new EventSource(addressOf("/api/events") + filter.peek());
  state.value = "connecting";
  source.addEventListener("ready", (event) => {
    const isResumed = JSON.parse(event.data).resumed;
    state.value = "on";
    if (hasMissed || !isResumed) send(null);
    hasMissed = false;
  });
  for (const sort of SORTS) source.addEventListener(sort, (event) => send(JSON.parse(event.data), sort));
  source.addEventListener("reset", () => send(null));
  source.addEventListener("error", () => {
    state.value = "connecting";
    hasMissed = true;
    if (source?.readyState === EventSource.CLOSED) retryLater();
  });
}

/** Some refusals end an EventSource for good. */
function retryLater() {
  const ended = source;
  setTimeout(() => {
    if (source !== ended || ended === null) return;
    watcher.refused();
    reopen();
  }, 3000);
}

function close() {
  source?.close();
  source = null;
  state.value = "off";
  hasMissed = true;
}

function reopen() {
  close();
  open();
}

/** Do what ends the right to hear: a stream that is open meanwhile would be refused. @param {() => Promise<void>} work */
export async function whileDeaf(work) {
  isDeaf.value = true;
  try {
    await work();
  } finally {
    isDeaf.value = false;
  }
}

/** Begin. Called once. */
export function startLive() {
  document.addEventListener("visibilitychange", () => {
    isHidden.value = document.hidden;
  });
  addEventListener("pagehide", close);
  effect(() => {
    const wanted = !isPaused.value && !isHidden.value && !isDeaf.value && may("read");
    void filter.value;
    close();
    if (wanted) open();
  });
}

/**
 * Hear what happens; returns how to stop.
 * @param {Listener} listener
 * @param {string} [query] what the stream of this view is limited to, as `?job_id=7`
 * @param {Sort} [sort] log and progress come where the stream is limited to a job, schedules where it is not limited
 */
export function listen(listener, query = "", sort = "changes") {
  listeners.set(listener, sort);
  filter.value = query;
  return () => {
    listeners.delete(listener);
  };
}
