// From the timeline of a job to the spans of its waterfall: a decision without effects.

/**
 * @typedef {{event: string, at: string, attempt: number, worker_id: string | null, message: string | null}} Moment
 * @typedef {{label: string, from: number, to: number, tone: string, what: string, isOpen: boolean}} Span
 */

/** What a span that such a moment ends is, in the words of the page, and its tone. @type {Record<string, string[]>} */
const ENDS = {
  completed: ["ran, completed", "good"], completed_from_outside: ["completed from outside", "good"], failed: ["ran, failed", "bad"],
  attempt_failed: ["ran, failed", "bad"], reaped: ["ran, its lease ran out", "bad"], rescheduled: ["ran, put off by its handler", "warn"],
  released: ["handed back", "warn"], blocked: ["ran, waits for chains now", "held"], cancelled: ["cancelled", "stop"],
};

const BACK_OFF = "Back-off";
/** After these a job waits for a time of its own before it is tried again. */
const TRIED_AGAIN = ["attempt_failed", "rescheduled"];

/**
 * The spans, the oldest first. Times are milliseconds since 1970; none ends before it begins.
 * @param {Moment[]} timeline
 * @param {number} now
 * @returns {Span[]}
 */
export function spansOf(timeline, now) {
  /** @type {Span[]} */
  const spans = [];
  let waitsSince = timeline.length ? Date.parse(timeline[0].at) : now;
  /** @type {{from: number, started: number | null, attempt: number} | null} */
  let held = null;
  let isOver = false;
  let waits = "Waited";
  for (const { event, at, attempt } of timeline) {
    const time = Date.parse(at);
    if (event === "claimed") {
      spans.push(span(waits, waitsSince, time, waits === BACK_OFF ? "backoff" : "", waits === BACK_OFF ? "waited to be tried again" : "waited"));
      waits = "Waited";
      held = { from: time, started: null, attempt };
      isOver = false;
    } else if (event === "started" && held) held.started = time;
    else if (event === "due" && waits === BACK_OFF) {
      spans.push(span(BACK_OFF, waitsSince, time, "backoff", "waited to be tried again"));
      [waits, waitsSince] = ["Waited", time];
    } else if (event in ENDS) {
      const [what, tone] = ENDS[event];
      if (held) spans.push(span(`Attempt ${held.attempt}`, held.started ?? held.from, time, tone, what));
      else if (event !== "blocked") spans.push(span("Waited", waitsSince, time, "", `waited, then ${what}`));
      held = null;
      waitsSince = time;
      waits = TRIED_AGAIN.includes(event) ? BACK_OFF : "Waited";
      isOver = ["completed", "completed_from_outside", "failed", "cancelled"].includes(event);
    } else if (event === "retried") {
      [waits, waitsSince] = ["Waited", time];
      isOver = false;
    }
  }
  if (held) spans.push({ ...span(`Attempt ${held.attempt}`, held.started ?? held.from, now, "busy", "runs"), isOpen: true });
  else if (!isOver && timeline.length) spans.push({ ...span(waits === BACK_OFF ? BACK_OFF : "Waiting", waitsSince, now, waits === BACK_OFF ? "backoff" : "", waits === BACK_OFF ? "waits to be tried again" : "waits"), isOpen: true });
  return spans;
}

/** @param {string} label @param {number} from @param {number} to @param {string} tone @param {string} what @returns {Span} */
const span = (label, from, to, tone, what) => ({ label, from, to: Math.max(from, to), tone, what, isOpen: false });
