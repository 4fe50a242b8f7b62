// What every component is made of: Preact's functions, bound to htm templates. No build step stands between.
import { Fragment, h, render } from "../vendor/preact.js";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/hooks.js";
import { computed, effect, signal } from "../vendor/signals.js";
import htm from "../vendor/htm.js";

/** @typedef {import("../vendor/preact.js").ComponentChildren} Children */

/**
 * htm keeps what of a template never changes, and Preact hangs it into the tree of its last use: so one tree after the other would
 * stay in memory. 3 in the first place of `this` has htm keep nothing.
 * @this {any}
 * @param {any} type @param {any} props @param {any[]} children
 */
function make(type, props, ...children) {
  this[0] = 3;
  return h(type, props, ...children);
}

export const html = htm.bind(/** @type {any} */ (make));
export {
  Fragment, computed, effect, render, signal, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState,
};
