// Calls of the HTTP API. Every view uses these and nothing else; the browser adds the session's cookie by itself.
import { parseJson, writeJson } from "./json.js";
import { noteTime } from "./time.js";

/** An answer that is a problem (RFC 9457). */
export class ApiProblem extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {string} [request] its id, which the gateway's log has */
  constructor(status, code, message, request = "") {
    super(message);
    this.status = status;
    this.code = code;
    this.request = request;
  }
}

/** Called when a call was refused for want of a sign-in. @type {{refused: () => void}} */
export const watcher = { refused: () => {} };

/** The address of a path below the prefix at which this page was loaded. @param {string} path */
export function addressOf(path) {
  return new URL(path.replace(/^\//, ""), document.baseURI).href;
}

/**
 * One call.
 * @param {string} method
 * @param {string} path as `/api/jobs`
 * @param {{query?: Record<string, any>, body?: any, headers?: Record<string, string>, signal?: AbortSignal}} [options]
 * @returns {Promise<any>} what the answer says, null where it says nothing
 * @throws {ApiProblem}
 */
export async function call(method, path, { query, body, headers, signal } = {}) {
  const isChange = method !== "GET";
  const answer = await reach(addressOf(path) + queryText(query), {
    method,
    signal,
    credentials: "same-origin",
    headers: {
      Accept: "application/json, application/problem+json",
      ...(isChange ? { "X-Leasehold-CSRF": "1" } : {}),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : writeJson(body, 0),
  });
  noteTime(answer.headers.get("Date"));
  const text = await answer.text();
  const content = text === "" ? null : parseJson(text);
  if (answer.ok) return content;
  if (answer.status === 401) watcher.refused();
  throw new ApiProblem(answer.status, content?.code ?? "unknown", content?.detail ?? content?.title ?? `status ${answer.status}`, content?.request_id);
}

/** @param {string} path @param {Record<string, any>} [query] @param {AbortSignal} [signal] */
export const get = (path, query, signal) => call("GET", path, { query, signal });

/** @param {string} address @param {RequestInit} options */
async function reach(address, options) {
  try {
    return await fetch(address, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiProblem(0, "unreachable", "The gateway cannot be reached.");
  }
}

/** @param {Record<string, any>} [query] */
export function queryText(query = {}) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") given.append(name, String(value));
  }
  const text = given.toString();
  return text === "" ? "" : `?${text}`;
}
