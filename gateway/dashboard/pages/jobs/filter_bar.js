// The filter as text, with suggestions for the word under the cursor.
import { html, useEffect, useRef, useState } from "../../base/html.js";
import { QUALIFIERS, STATES, termText } from "../../base/filter.js";
import { useLoaded } from "../../base/loading.js";
import { knownNames } from "../enqueue/kinds.js";

const MOST = 12;

/** @param {{text: string, problem: string, onChange: (text: string) => void}} props */
export function FilterBar({ text, problem, onChange }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [written, setWritten] = useState(text);
  const [isOpen, setOpen] = useState(false);
  const [index, setIndex] = useState(-1);
  const names = useLoaded(knownNames, []);
  useEffect(() => setWritten(text), [text]);
  const found = isOpen ? suggestionsFor(written, names.data ?? {}) : [];
  const send = () => {
    setOpen(false);
    setIndex(-1);
    onChange(written.trim());
  };
  const take = (/** @type {string} */ word) => {
    setWritten(replaceLast(written, word));
    setIndex(-1);
    input.current?.focus();
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
    if (step && found.length) {
      event.preventDefault();
      setIndex((index + step + found.length) % found.length);
    } else if (event.key === "Escape") setOpen(false);
    else if ((event.key === "Tab" || event.key === "Enter") && isOpen && found[index]) {
      event.preventDefault();
      take(found[index]);
    }
  };
  return html`<form class="filter" role="search" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); send(); }}>
    <div class="line">
      <input id="filter" ref=${input} role="combobox" aria-label="Filter jobs" aria-expanded=${found.length > 0} aria-controls="suggestions"
        aria-autocomplete="list" aria-activedescendant=${found[index] ? `suggestion-${index}` : null} autocomplete="off" spellcheck=${false}
        aria-invalid=${problem ? "true" : null} aria-describedby=${problem ? "filter-problem" : null}
        placeholder="kind:charge state:failed key:shop-7 args.order:12 older:1h" value=${written} onKeyDown=${press}
        onFocus=${() => setOpen(true)} onBlur=${() => setTimeout(() => setOpen(false), 150)}
        onInput=${(/** @type {any} */ event) => { setWritten(event.target.value); setOpen(true); setIndex(-1); }} />
      <button class="first">Find</button>
    </div>
    ${found.length ? html`<ul id="suggestions" role="listbox" aria-label="Suggestions">
      ${found.map((each, at) => html`<li id="suggestion-${at}" role="option" key=${each} aria-selected=${at === index}
        onMouseDown=${(/** @type {Event} */ event) => { event.preventDefault(); take(each); }}><bdi>${each}</bdi></li>`)}</ul>` : null}
    ${problem ? html`<div id="filter-problem" class="trouble" data-tone="warn" role="alert">${problem}</div>` : null}
  </form>`;
}

/**
 * What the last word of the text may become.
 * @param {string} text
 * @param {Record<string, string[]>} names by qualifier
 */
export function suggestionsFor(text, names) {
  const word = /(\S*)$/.exec(text)?.[1] ?? "";
  const [name, value] = word.includes(":") ? [word.slice(0, word.indexOf(":")), word.slice(word.indexOf(":") + 1)] : [word, null];
  if (value === null) return QUALIFIERS.filter((each) => each.startsWith(name)).map((each) => (each.endsWith(".") ? each : `${each}:`));
  const values = name === "state" ? STATES : Object.hasOwn(names, name) ? names[name] : [];
  return values.filter((each) => each.startsWith(value) && each !== value).slice(0, MOST).map((each) => termText(name, each));
}

/** The text with its last word replaced; a finished term gets a space. @param {string} text @param {string} word */
export function replaceLast(text, word) {
  const isFinished = !word.endsWith(":") && !word.endsWith(".");
  return text.replace(/\S*$/, () => word) + (isFinished ? " " : "");
}
