// Which rows are shown: decisions without effects.

/** @typedef {{id: number, state: string, isGone?: boolean}} Row */

/**
 * The rows that are shown, as they are now: in their places, without the new ones. Those that the filter does not find any more
 * stay, marked.
 * @template {Row} T
 * @param {T[]} before
 * @param {T[]} now
 * @returns {T[]}
 */
export function merge(before, now) {
  const fresh = new Map(now.map((each) => [each.id, each]));
  return before.map((each) => fresh.get(each.id) ?? { ...each, isGone: true });
}

/**
 * The ids from one row to another, in the order of the list.
 * @param {Row[]} rows @param {number} from @param {number} to
 */
export function rangeOf(rows, from, to) {
  const [a, b] = [rows.findIndex((each) => each.id === from), rows.findIndex((each) => each.id === to)];
  if (a < 0 || b < 0) return [to];
  return rows.slice(Math.min(a, b), Math.max(a, b) + 1).map((each) => each.id);
}

/**
 * Whether a change may concern the list: a row that is shown, or a job that the filter could find.
 * @param {{job_id?: number, kind?: string, queue?: string, key?: string}} change
 * @param {Record<string, any>} filter
 * @param {Row[]} rows
 */
export function matches(change, filter, rows) {
  if (change.job_id === undefined) return false;
  if (rows.some((each) => each.id === change.job_id)) return true;
  const fits = (/** @type {"kind" | "queue" | "key"} */ name) => !filter[name] || change[name] === undefined || filter[name] === change[name];
  return fits("kind") && fits("queue") && fits("key");
}
