// Who looks at the page, and what they may do. The server decides again; this only decides what is shown.
import { ApiProblem, call, get, watcher } from "./api.js";
import { signal } from "./html.js";

/** @typedef {{name: string | null, scopes: string[], is_session: boolean, version: string, can_scale: boolean}} Session */

/** Null until it is known. */
export const session = signal(/** @type {Session | null} */ (null));
export const trouble = signal("");

/** Ask the server. */
export async function loadSession() {
  try {
    session.value = await get("/api/session");
    trouble.value = "";
  } catch (error) {
    trouble.value = error instanceof ApiProblem ? error.message : String(error);
  }
}

/** @param {string} scope */
export const may = (scope) => session.value?.scopes.includes(scope) ?? false;

/** @param {string} token @throws {ApiProblem} */
export async function signIn(token) {
  session.value = await call("POST", "/api/session", { body: { token } });
}

/** What the views still ask for would be refused, so they go first. */
export async function signOut() {
  session.value = null;
  await new Promise((gone) => setTimeout(gone));
  await call("DELETE", "/api/session").finally(loadSession);
}

watcher.refused = () => {
  if (session.value?.name) void loadSession();
};
