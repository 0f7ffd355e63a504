/** Notices: what went wrong and what to do, in a corner, until read. */

import { button, h } from "../dom";

let host: HTMLElement | null = null;
const known = new Set<string>(); // information that was given already

export function notices(): HTMLElement {
  host = h("div", { class: "notices", id: "notices", role: "status", "aria-live": "polite" });
  return host;
}

/** Shows a notice for a while; errors stay longest, and what was said already is not said again. */
export function notify(level: "info" | "error" | "done", message: string, hint: string | null = null, act?: { text: string; click: () => void }): void {
  const said = [...(host?.children ?? [])].find((each) => (each as HTMLElement).dataset["message"] === message);
  if (said || (level === "info" && known.has(message))) return;
  if (level === "info") known.add(message);
  const seconds = { info: 7, done: 5, error: 20 }[level];
  const close = (): void => box.remove();
  const box: HTMLElement = h(
    "div",
    { class: `notice ${level}`, "data-message": message, role: level === "error" ? "alert" : "status" },
    h("div", { class: "notice-text" }, h("div", {}, message), hint ? h("div", { class: "faint" }, hint) : null),
    act ? button({ text: act.text, hint: act.text, kind: "small", click: () => { act.click(); close(); } }) : null,
    button({ icon: "remove", hint: "Close this notice", kind: "ghost small", click: close }),
  );
  while (host && host.children.length > 3) host.firstElementChild?.remove();
  host?.append(box);
  setTimeout(close, 1000 * seconds);
}
