// What whoever has not shown a token yet sees.
import { ApiProblem } from "../base/api.js";
import { html, useState } from "../base/html.js";
import { signIn } from "../base/session.js";

export function SignIn() {
  const [problem, setProblem] = useState("");
  const [isBusy, setBusy] = useState(false);
  const send = async (/** @type {any} */ event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(String(new FormData(event.target).get("token") ?? "").trim());
    } catch (error) {
      setProblem(error instanceof ApiProblem ? error.message : String(error));
    }
    setBusy(false);
  };
  return html`<main class="sign-in"><div class="card">
    <h1>leasehold</h1>
    <p class="quiet">Sign in with an access token. Whoever runs leasehold makes one with <code>leasehold tokens create NAME --scope read</code>.</p>
    <form onSubmit=${send}>
      <label>Token <input type="password" name="token" required autocomplete="current-password" autofocus /></label>
      ${problem ? html`<div class="trouble" data-tone="bad" role="alert">${problem}</div>` : null}
      <button class="first" disabled=${isBusy}>Sign in</button>
    </form>
  </div></main>`;
}
