// JSON whose integers stay whole. JSON.parse rounds those above 2^53; here they become a `BigNumber` that keeps its digits.

/** A number that JavaScript could only round. */
export class BigNumber {
  /** @param {string} digits as they stand in the JSON */
  constructor(digits) {
    this.digits = digits;
  }
  toString() {
    return this.digits;
  }
}

const LONG_NUMBER = /\d{16,}/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\]|\\.)*"/ys;

/**
 * The value of a JSON text.
 * @param {string} text
 * @returns {any}
 * @throws {SyntaxError} where it is no JSON
 */
export function parseJson(text) {
  return LONG_NUMBER.test(text) ? new Parser(text).whole() : JSON.parse(text);
}

/**
 * The JSON text of a value, with the digits of its big numbers.
 * @param {any} value
 * @param {number} [indent] spaces for each level; 0 for one line
 * @returns {string}
 */
export function writeJson(value, indent = 2, depth = 0) {
  if (value instanceof BigNumber) return value.digits;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => writeJson(each, indent, depth + 1))
    : Object.keys(value).map((name) => `${JSON.stringify(name)}:${indent ? " " : ""}${writeJson(value[name], indent, depth + 1)}`);
  const [open, close] = isList ? "[]" : "{}";
  if (parts.length === 0) return open + close;
  if (!indent) return open + parts.join(",") + close;
  const margin = " ".repeat(indent * (depth + 1));
  return `${open}\n${margin}${parts.join(`,\n${margin}`)}\n${" ".repeat(indent * depth)}${close}`;
}

class Parser {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  whole() {
    const value = this.value();
    this.skip();
    if (this.at < this.text.length) this.fail();
    return value;
  }

  /** @returns {any} */
  value() {
    this.skip();
    const first = this.text[this.at];
    if (first === "{") return this.object();
    if (first === "[") return this.list();
    if (first === '"') return this.string();
    for (const [word, value] of WORDS) if (this.takes(word)) return value;
    return this.number();
  }

  object() {
    /** @type {Record<string, any>} */
    const found = {};
    this.at += 1;
    for (let isFirst = true; !this.closes("}", isFirst); isFirst = false) {
      const name = this.string();
      this.skip();
      if (!this.takes(":")) this.fail();
      // Not by assignment: a field named __proto__ is a field like all others.
      Object.defineProperty(found, name, { value: this.value(), enumerable: true, writable: true, configurable: true });
    }
    return found;
  }

  list() {
    const found = [];
    this.at += 1;
    for (let isFirst = true; !this.closes("]", isFirst); isFirst = false) found.push(this.value());
    return found;
  }

  /** @param {string} end @param {boolean} isFirst */
  closes(end, isFirst) {
    this.skip();
    if (this.takes(end)) return true;
    if (!isFirst && !this.takes(",")) this.fail();
    this.skip();
    return false;
  }

  string() {
    return JSON.parse(this.match(STRING));
  }

  number() {
    const digits = this.match(NUMBER);
    const number = Number(digits);
    const isWhole = /^-?\d+$/.test(digits);
    return isWhole && !Number.isSafeInteger(number) ? new BigNumber(digits) : number;
  }

  skip() {
    SPACE.lastIndex = this.at;
    this.at += SPACE.exec(this.text)?.[0].length ?? 0;
  }

  /** @param {RegExp} pattern */
  match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) return this.fail();
    this.at += found[0].length;
    return found[0];
  }

  /** @param {string} word */
  takes(word) {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** @returns {never} */
  fail() {
    throw new SyntaxError(`this is no JSON at character ${this.at}`);
  }
}

/** @type {[string, any][]} */
const WORDS = [["true", true], ["false", false], ["null", null]];
