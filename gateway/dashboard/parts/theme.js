// Light, dark, or as the system has it. `../theme.js` applies the choice before the first paint.
import { signal } from "../base/html.js";

const KEY = "leasehold.theme";
const CHOICES = ["auto", "light", "dark"];

export const theme = signal(localStorage.getItem(KEY) ?? "auto");

export function nextTheme() {
  const chosen = CHOICES[(CHOICES.indexOf(theme.value) + 1) % CHOICES.length];
  theme.value = chosen;
  if (chosen === "auto") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, chosen);
    document.documentElement.dataset.theme = chosen;
  }
}
