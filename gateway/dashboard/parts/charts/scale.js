// Where values and times lie on a chart, and what is written beside them. Pure arithmetic.

/** How wide a value is drawn that has no neighbours. */
const LONE = 5;

/** The next round number above a value, so that an axis ends at one. @param {number} value */
export function roundTop(value) {
  if (!(value > 0)) return 1;
  const size = 10 ** Math.floor(Math.log10(value));
  return (([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((each) => each * size >= value * 0.999) ?? 10) * size);
}

/** What stands at the upper edge, in the middle and at the bottom; rounded, two of them may say the same. @param {number} top @param {(value: number) => string} format */
export function scaleOf(top, format) {
  const [high, middle, low] = [top, top / 2, 0].map(format);
  return [high, middle === high || middle === low ? "" : middle, low];
}

/**
 * The path of a line through values over a width and a height; where a value is missing, the line is broken.
 * @param {(number | null)[]} values
 * @param {number} top the value at the upper edge
 * @param {number} width
 * @param {number} height
 */
export function pathOf(values, top, width, height) {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let isBroken = true;
  return values.map((value, index) => {
    if (value === null || !Number.isFinite(value)) {
      isBroken = true;
      return "";
    }
    const command = isBroken ? "M" : "L";
    isBroken = false;
    const x = index * step;
    const y = height - (Math.min(value, top) / top) * height;
    // A value between two missing ones is a short dash: a dot of the line's width is hardly seen.
    const isAlone = command === "M" && !Number.isFinite(values[index + 1] ?? NaN);
    return `${command}${(isAlone ? x - LONE / 2 : x).toFixed(1)} ${y.toFixed(1)}${isAlone ? `h${LONE}` : ""}`;
  }).join("");
}

/**
 * Times to write below a chart, from its left edge to its right one.
 * @param {number[]} times milliseconds since 1970, the oldest first
 * @param {number} wanted how many
 * @returns {{share: number, text: string}[]}
 */
export function timeLabels(times, wanted = 5) {
  if (times.length < 2) return [];
  const [first, last] = [times[0], times[times.length - 1]];
  const isLong = last - first > 36 * 3600e3;
  /** @type {Intl.DateTimeFormatOptions} */
  const format = isLong ? { weekday: "short", day: "numeric" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return Array.from({ length: wanted }, (_, index) => {
    const share = index / (wanted - 1);
    return { share, text: new Date(first + share * (last - first)).toLocaleString(undefined, format) };
  });
}

/** The index of the time that is nearest to a share of the width. @param {number} share 0 to 1 @param {number} length */
export const nearest = (share, length) => Math.min(length - 1, Math.max(0, Math.round(share * (length - 1))));
