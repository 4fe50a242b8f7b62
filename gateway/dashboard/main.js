// Where the dashboard begins: the frame around every view, and which view an address means.
import { html, render, useEffect, useRef } from "./base/html.js";
import { startLive } from "./base/live.js";
import { followLinks, place } from "./base/router.js";
import { loadSession, may, session, trouble } from "./base/session.js";
import { Head } from "./parts/head.js";
import { startLabels } from "./parts/labels.js";
import { Palette, startKeys } from "./parts/palette.js";
import { Toasts } from "./parts/toasts.js";
import { viewAt } from "./views.js";
import { Secret } from "./pages/admin/secret.js";
import { SignIn } from "./pages/sign_in.js";

function App() {
  const who = session.value;
  if (who === null) return html`<p class="starting" role="status">${trouble.value || "Loading…"}
    ${trouble.value ? html` <button onClick=${loadSession}>Try again</button>` : null}</p>`;
  if (who.name === null) return html`<${SignIn} /><${Secret} /><${Toasts} />`;
  return html`<${Frame} /><${Palette} /><${Secret} /><${Toasts} />`;
}

function Frame() {
  const { path } = place.value;
  const { title, view, key, scope = "read" } = viewAt(path);
  const missing = ["read", scope].find((each) => !may(each));
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = title === "Overview" ? "leasehold" : `${title} · leasehold`;
    // Readers of screens hear that the view has changed.
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
  }, [key]);
  return html`<a class="skip" href="#main" data-outside="">To the content</a>
    <${Head} />
    <main id="main" tabindex="-1" ref=${main} key=${key}>
      ${missing ? html`<h1>${title}</h1><p class="empty">Your token does not have the scope ${missing}, which this page needs.</p>` : view()}
    </main>`;
}

const app = document.getElementById("app");
if (app) {
  app.textContent = "";
  render(html`<${App} />`, app);
}
followLinks();
startKeys();
startLabels();
await loadSession();
startLive();
