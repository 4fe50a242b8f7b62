// The head of every page: where one can go, whether the page is live, the theme, and who is signed in.
import { html } from "../base/html.js";
import { isPaused, state } from "../base/live.js";
import { hrefOf, place } from "../base/router.js";
import { may, session, signOut } from "../base/session.js";
import { PLACES } from "../views.js";
import { isHelpOpen } from "./palette.js";
import { nextTheme, theme } from "./theme.js";
import { attempt } from "./toasts.js";

/** @type {Record<string, string>} */
const WORDS = { on: "Live", connecting: "Connecting", off: "Paused" };

export function Head() {
  const { path } = place.value;
  const isHere = (/** @type {string} */ to) => (to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`));
  const who = session.value;
  return html`<header class="head">
    <a class="name" href=${hrefOf("/")}>leasehold</a>
    <nav aria-label="Pages">
      ${PLACES.filter((each) => may(each.scope)).map(
        (each) => html`<a href=${hrefOf(each.path)} aria-current=${isHere(each.path) ? "page" : null}>${each.title}</a>`,
      )}
    </nav>
    <div class="tools">
      <button class="plain live" data-state=${state.value} aria-pressed=${isPaused.value}
        title=${isPaused.value ? "Updates are paused" : "This page follows what happens"}
        onClick=${() => { isPaused.value = !isPaused.value; }}>${WORDS[isPaused.value ? "off" : state.value]}</button>
      <button class="plain" onClick=${nextTheme} aria-label="Theme: ${theme.value}" title="Theme: ${theme.value}">
        <span aria-hidden="true">${{ auto: "◐", light: "☀", dark: "☾" }[theme.value] ?? "◐"}</span></button>
      <button class="plain" onClick=${() => { isHelpOpen.value = true; }} aria-label="Keys and help"><kbd>?</kbd></button>
      ${who?.is_session ? html`<button class="plain" title="Signed in as ${who.name}" onClick=${() => attempt(signOut)}>Sign out</button>` : null}
    </div>
  </header>`;
}
