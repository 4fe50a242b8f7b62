// From the JSON Schema of a kind's args to the fields of a form, and from that form to args: decisions without effects.
import { BigNumber, parseJson, writeJson } from "../../base/json.js";

/**
 * @typedef {"text" | "integer" | "number" | "boolean" | "choice" | "json"} Type
 * @typedef {{name: string, label: string, type: Type, isRequired: boolean, mayBeNull: boolean, about: string, initial: string, choices: any[]}} Field
 *   initial: what the form begins with, as text
 */

const DEEPEST = 8;
const SIMPLE = { string: "text", integer: "integer", number: "number", boolean: "boolean" };

/**
 * The fields of a form for args of this schema; null where it is none of an object with named fields, so that only JSON will do.
 * @param {any} schema
 * @param {Record<string, any>} [args] what the form begins with, in the place of defaults
 * @returns {Field[] | null}
 */
export function fieldsOf(schema, args = {}) {
  const whole = resolve(schema, schema);
  const isObject = isRecord(whole) && (whole.type === "object" || isRecord(whole.properties));
  if (!isObject || !isRecord(whole.properties) || Object.keys(whole.properties).length === 0) return null;
  const required = Array.isArray(whole.required) ? whole.required : [];
  return Object.keys(whole.properties).map((name) => fieldOf(name, whole.properties[name], schema, required.includes(name), args));
}

/** @param {string} name @param {any} part @param {any} schema @param {boolean} isRequired @param {Record<string, any>} args @returns {Field} */
function fieldOf(name, part, schema, isRequired, args) {
  const { inner, mayBeNull } = withoutNull(resolve(part, schema), schema);
  const about = isRecord(inner) ? inner : {};
  const choices = Array.isArray(about.enum) ? about.enum.filter((each) => each !== null) : "const" in about ? [about.const] : [];
  const type = /** @type {Type} */ (choices.length ? "choice" : Object.hasOwn(SIMPLE, about.type) ? SIMPLE[/** @type {"string"} */ (about.type)] : "json");
  const value = Object.hasOwn(args, name) ? args[name] : isRecord(part) && "default" in part ? part.default : about.default;
  return {
    name, type, isRequired, mayBeNull, choices, about: String((isRecord(part) && part.description) || about.description || ""),
    label: [name, boundsOf(about)].filter(Boolean).join(", "), initial: textOf(value, type),
  };
}

/** @param {any} value @param {Type} type */
function textOf(value, type) {
  if (value === undefined || value === null) return "";
  return type === "json" || type === "choice" ? writeJson(value, type === "json" ? 2 : 0) : String(value);
}

/** What a number or a text must keep, in short. @param {any} about */
function boundsOf(about) {
  const from = about.minimum ?? about.minLength;
  const to = about.maximum ?? about.maxLength;
  const unit = about.minLength !== undefined || about.maxLength !== undefined ? " characters" : "";
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`;
  return from !== undefined ? `at least ${from}${unit}` : to !== undefined ? `at most ${to}${unit}` : "";
}

/** What a `$ref` means. @param {any} part @param {any} schema @returns {any} */
function resolve(part, schema, depth = 0) {
  if (!isRecord(part) || typeof part.$ref !== "string" || depth > DEEPEST) return part;
  const names = part.$ref.startsWith("#/") ? part.$ref.slice(2).split("/").map((/** @type {string} */ each) => each.replaceAll("~1", "/").replaceAll("~0", "~")) : [];
  const found = names.reduce((/** @type {any} */ at, /** @type {string} */ name) => (isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined), schema);
  return names.length ? resolve(found, schema, depth + 1) : undefined;
}

/** A schema that also takes null, without that. @param {any} part @param {any} schema */
function withoutNull(part, schema) {
  if (!isRecord(part)) return { inner: part, mayBeNull: false };
  const several = part.anyOf ?? part.oneOf;
  if (Array.isArray(several)) {
    const others = several.filter((each) => each?.type !== "null");
    const inner = others.length === 1 ? resolve(others[0], schema) : {};
    return { inner, mayBeNull: others.length < several.length };
  }
  if (Array.isArray(part.type)) {
    const types = part.type.filter((/** @type {string} */ each) => each !== "null");
    return { inner: { ...part, type: types.length === 1 ? types[0] : undefined }, mayBeNull: types.length < part.type.length };
  }
  return { inner: part, mayBeNull: Array.isArray(part.enum) && part.enum.includes(null) };
}

/**
 * The args that the form says. A field that is left empty is left out.
 * @param {Field[]} fields
 * @param {Record<string, string>} form by the name of the field
 * @returns {{args: Record<string, any>, problems: Record<string, string>}}
 */
export function argsOf(fields, form) {
  /** @type {Record<string, any>} */
  const args = {};
  /** @type {Record<string, string>} */
  const problems = {};
  for (const field of fields) {
    const text = form[field.name] ?? "";
    if (text.trim() === "") {
      // A text may be empty only where it has to be there.
      if (field.isRequired) put(field.mayBeNull ? { value: null } : field.type === "text" && text !== "" ? { value: text } : { problem: "It must be given." }, field.name, args, problems);
      continue;
    }
    put(valueOf(field, text), field.name, args, problems);
  }
  return { args, problems };
}

/** @param {{value?: any, problem?: string}} read @param {string} name @param {Record<string, any>} args @param {Record<string, string>} problems */
function put({ value, problem }, name, args, problems) {
  // Not by assignment: a field named __proto__ is a field like all others.
  Object.defineProperty(problem ? problems : args, name, { value: problem ?? value, enumerable: true, writable: true, configurable: true });
}

/** @param {Field} field @param {string} text @returns {{value?: any, problem?: string}} */
function valueOf({ type }, text) {
  if (type === "text") return { value: text };
  const plain = text.trim();
  if (type === "integer") return /^-?\d+$/.test(plain) ? { value: whole(plain) } : { problem: "It must be a whole number." };
  if (type === "number") return Number.isFinite(Number(plain)) ? { value: /^-?\d+$/.test(plain) ? whole(plain) : Number(plain) } : { problem: "It must be a number." };
  if (type === "boolean") return { value: plain === "true" };
  try {
    return { value: parseJson(plain) };
  } catch {
    return { problem: "It must be JSON." };
  }
}

/** @param {string} digits */
const whole = (digits) => (Number.isSafeInteger(Number(digits)) ? Number(digits) : new BigNumber(digits));

/** @param {any} value @returns {value is Record<string, any>} */
const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
