// What the API knows of kinds: their names, and the schema of their args.
import { get } from "../../base/api.js";

/**
 * The kinds that apps have declared.
 * @param {AbortSignal} signal
 * @returns {Promise<string[]>}
 */
export async function declaredKinds(signal) {
  const { items } = await get("/api/kinds", {}, signal);
  return items.map((/** @type {any} */ each) => each.kind);
}

/** The JSON Schema of a kind's args; null where it has none. @param {string} kind @param {AbortSignal} [signal] */
export async function schemaOf(kind, signal) {
  const { args_schema } = await get(`/api/kinds/${encodeURIComponent(kind)}`, {}, signal);
  return args_schema ?? null;
}
