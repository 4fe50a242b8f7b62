// Pages that are loaded when somebody opens them, so that the first one comes soon.
import { html, useEffect, useState } from "./html.js";

/**
 * A component that is in a module which has not been loaded yet.
 * @param {() => Promise<any>} load imports the module
 * @param {string} name of the component in it
 */
export function lazy(load, name) {
  /** @type {any} */
  let found = null;
  return function Lazy(/** @type {any} */ props) {
    const [state, setState] = useState(found ? "there" : "");
    useEffect(() => {
      if (found) return;
      load().then((module) => { found = module[name]; setState("there"); }, () => setState("gone"));
    }, []);
    if (found) return html`<${found} ...${props} />`;
    // The gateway has been renewed since, and serves other files now.
    if (state === "gone") return html`<div class="trouble" data-tone="bad" role="alert">This page cannot be loaded. <button onClick=${() => location.reload()}>Load everything again</button></div>`;
    return html`<p class="empty">Loading…</p>`;
  };
}
