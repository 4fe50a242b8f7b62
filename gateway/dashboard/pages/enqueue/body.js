// From the form to the body of `POST /api/jobs`: a decision without effects.
import { BigNumber, parseJson } from "../../base/json.js";

/**
 * What the form says.
 * @param {Record<string, string>} form
 * @returns {{body: Record<string, any>, problems: Record<string, string>}} problems by the name of the field
 */
export function bodyOf(form) {
  /** @type {Record<string, any>} */
  const body = {};
  /** @type {Record<string, string>} */
  const problems = {};
  for (const name of ["kind", "queue", "key", "key_group"]) if (form[name]?.trim()) body[name] = form[name].trim();
  if (!body.kind) problems.kind = "A job needs a kind.";
  for (const name of ["args", "metadata"]) {
    if (!form[name]?.trim()) continue;
    const { value, problem } = objectOf(form[name]);
    if (problem) problems[name] = problem;
    else body[name] = value;
  }
  for (const [name, isWhole] of /** @type {[string, boolean][]} */ ([["priority", true], ["max_attempts", true], ["timeout", false], ["delay", false]])) {
    if (!form[name]?.trim()) continue;
    const number = Number(form[name]);
    if (!Number.isFinite(number) || (isWhole && !Number.isInteger(number))) problems[name] = isWhole ? "It must be a whole number." : "It must be a number.";
    else body[name] = number;
  }
  if (form.run_at?.trim()) {
    const time = new Date(form.run_at);
    if (Number.isNaN(time.getTime())) problems.run_at = "It must be a time.";
    else body.run_at = time.toISOString();
  }
  const { unique, problem } = uniqueOf(form);
  if (unique) body.unique = unique;
  if (problem) problems.unique_by = problem;
  if (body.run_at && "delay" in body) problems.delay = "Give a time or a delay, not both.";
  return { body, problems };
}

/**
 * Which jobs count as the same, and what becomes of the second one; nothing where the form says nothing of it.
 * @param {Record<string, string>} form
 * @returns {{unique?: Record<string, any>, problem?: string}}
 */
function uniqueOf(form) {
  const by = (form.unique_by ?? "").split(",").map((each) => each.trim()).filter(Boolean);
  const key = form.unique_key?.trim();
  if (by.length && key) return { problem: "Give this or the text, not both." };
  if (!by.length && !key) return {};
  return { unique: { ...(key ? { key } : { by }), ...(form.on_conflict ? { on_conflict: form.on_conflict } : {}) } };
}

/** A JSON object, or why it is none. @param {string} text @returns {{value?: any, problem?: string}} */
export function objectOf(text) {
  try {
    const value = parseJson(text);
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof BigNumber);
    return isObject ? { value } : { problem: "It must be a JSON object, as {\"order\": 7}." };
  } catch (error) {
    return { problem: `It is no JSON: ${error instanceof Error ? error.message : error}` };
  }
}
