// The filter bar's language: `kind:charge state:failed key:"shop 7" args.order:12 older:1h`, and what it asks of the API.
import { BigNumber } from "./json.js";

/** @typedef {{name: string, value: string}} Term */

export const STATES = ["pending", "scheduled", "waiting", "blocked", "claimed", "running", "completed", "failed", "cancelled", "stale"];
export const QUALIFIERS = ["state", "kind", "queue", "key", "worker", "args.", "metadata.", "older", "newer"];
const SECONDS = { s: 1, m: 60, min: 60, h: 3600, d: 86400, w: 604800 };
const TERM = /([A-Za-z]+(?:\.[^\s:"]+)?):(?:"((?:[^"\\]|\\.)*)"|(\S*))|(\S+)/g;

/**
 * What the text says.
 * @param {string} text
 * @returns {{terms: Term[], problem: string}} the problem is empty where all of it makes sense
 */
export function parseFilter(text) {
  /** @type {Term[]} */
  const terms = [];
  for (const [, name, quoted, plain, bare] of text.matchAll(TERM)) {
    if (bare !== undefined) return { terms, problem: `“${bare}” has no qualifier; write for example kind:${bare}` };
    const value = quoted === undefined ? plain : quoted.replace(/\\(.)/gs, "$1");
    const problem = refuse({ name, value }, terms);
    if (problem) return { terms, problem };
    terms.push({ name, value });
  }
  return { terms, problem: "" };
}

/** @param {Term} term @param {Term[]} before */
function refuse({ name, value }, before) {
  const isKnown = QUALIFIERS.includes(name) || partOf(name) !== null;
  if (!isKnown) return `“${name}:” is no qualifier; there are ${QUALIFIERS.join(", ")}`;
  if (value === "") return `${name}: has no value yet`;
  if (before.some((each) => each.name === name)) return `${name}: is there twice`;
  if (name === "state" && !STATES.includes(value)) return `“${value}” is no state; there are ${STATES.join(", ")}`;
  if ((name === "older" || name === "newer") && secondsOf(value) === null) return `${name}: takes a time such as 30s, 15m, 2h or 3d`;
  return "";
}

/** @param {string} text @returns {number | null} */
export function secondsOf(text) {
  const found = /^(\d+(?:\.\d+)?)(s|m|min|h|d|w)$/.exec(text);
  return found ? Number(found[1]) * SECONDS[/** @type {keyof typeof SECONDS} */ (found[2])] : null;
}

/**
 * The query of `GET /api/jobs`.
 * @param {Term[]} terms
 * @param {number} at milliseconds since 1970, for `older` and `newer`
 * @returns {Record<string, any>}
 */
export function queryOf(terms, at) {
  /** @type {Record<string, any>} */
  const query = {};
  for (const { name, value } of terms) {
    const part = partOf(name);
    if (part !== null) put((query[part] ??= {}), name.slice(part.length + 1).split("."), valueOf(value));
    else if (name === "older") query.created_before = new Date(at - (secondsOf(value) ?? 0) * 1000).toISOString();
    else if (name === "newer") query.created_after = new Date(at - (secondsOf(value) ?? 0) * 1000).toISOString();
    else query[name] = value;
  }
  return query;
}

/** Which object of a job a qualifier looks into: `args.order` into the args. @param {string} name */
const partOf = (name) => /^(args|metadata)\../.exec(name)?.[1] ?? null;

/** @param {Record<string, any>} into @param {string[]} path @param {any} value */
function put(into, path, value) {
  const [name, ...rest] = path;
  const field = { enumerable: true, writable: true, configurable: true };
  if (rest.length === 0) Object.defineProperty(into, name, { ...field, value });
  else {
    if (!Object.hasOwn(into, name)) Object.defineProperty(into, name, { ...field, value: {} });
    put(into[name], rest, value);
  }
}

/** A number, true, false or null as such; all else is text. @param {string} text */
function valueOf(text) {
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : new BigNumber(text);
  if (/^-?\d+\.\d+$/.test(text)) return Number(text);
  return text === "true" ? true : text === "false" ? false : text === "null" ? null : text;
}

/** A term as text. @param {string} name @param {string} value */
export function termText(name, value) {
  return /^[^\s"]+$/.test(value) ? `${name}:${value}` : `${name}:"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** The text with this term in the place of those of its name. @param {string} text @param {string} name @param {string} value */
export function withTerm(text, name, value) {
  const { terms } = parseFilter(text);
  const kept = terms.filter((each) => each.name !== name).map((each) => termText(each.name, each.value));
  return [...kept, ...(value === "" ? [] : [termText(name, value)])].join(" ");
}
