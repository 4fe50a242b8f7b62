// The head of every page: where one can go, whether the page is live, the theme, and who is signed in.
import { html, useState } from "../base/html.js";
import { isPaused, state } from "../base/live.js";
import { hrefOf, place } from "../base/router.js";
import { may, session, signOut } from "../base/session.js";
import { PLACES } from "../views.js";
import { isHelpOpen } from "./palette.js";
import { nextTheme, theme } from "./theme.js";
import { attempt } from "./toasts.js";

/** @type {Record<string, string>} */
const WORDS = { on: "Live", connecting: "Connecting", off: "Paused" };
const TONES = { on: "good", connecting: "warn" };

export function Head() {
  const { path } = place.value;
  const [openAt, setOpenAt] = useState("");
  const isOpen = openAt === path;
  const isHere = (/** @type {string} */ to) => (to === "/" ? path === "/" : path === to || path.startsWith(`${to}/`));
  const who = session.value;
  return html`<header class="head">
    <a class="name" href=${hrefOf("/")}>leasehold</a>
    <nav aria-label="Pages" data-open=${isOpen ? "" : null}>
      ${PLACES.filter((each) => may(each.scope)).map((each) => html`${each.group ? html`<span class="group" aria-hidden="true">${each.group}</span>` : null}
        <a class=${each.isTab ? "" : "behind"} href=${hrefOf(each.path)} aria-current=${isHere(each.path) ? "page" : null}>${each.title}<kbd aria-hidden="true">g ${each.letter}</kbd></a>`)}
      <button class="plain more" aria-expanded=${isOpen} onClick=${() => setOpenAt(isOpen ? "" : path)}>More</button>
    </nav>
    <div class="tools">
      <button class="plain live" data-state=${state.value} data-tone=${TONES[/** @type {"on"} */ (state.value)]} aria-pressed=${isPaused.value}
        title=${isPaused.value ? "Updates are paused" : "This page follows what happens"}
        onClick=${() => { isPaused.value = !isPaused.value; }}>${WORDS[isPaused.value ? "off" : state.value]}</button>
      <button class="plain" onClick=${nextTheme} aria-label="Theme: ${theme.value}" title="Theme: ${theme.value}">
        <span aria-hidden="true">${{ auto: "◐", light: "☀", dark: "☾" }[theme.value] ?? "◐"}</span></button>
      <button class="plain" onClick=${() => { isHelpOpen.value = true; }} aria-label="Keys and help"><kbd>?</kbd></button>
      ${who?.is_session ? html`<button class="plain" title="Signed in as ${who.name}" onClick=${() => attempt(signOut)}>Sign out</button>` : null}
    </div>
  </header>`;
}
