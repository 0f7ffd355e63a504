/** Why a simulation stopped: said over the picture until it is built again, with the way to the element. */

import type { App } from "../app";
import { button, fill, h, icon } from "../dom";
import type { Failure } from "../protocol";
import { resetRun } from "./timeline";

export function failedBanner(app: App): HTMLElement {
  const banner = h("div", { class: "failed", id: "failed", role: "alert" });
  app.store.on(["failed"], ({ failed }) => {
    banner.hidden = !failed;
    if (!failed) return;
    fill(
      banner,
      icon("warning") as unknown as Node,
      h("div", { class: "notice-text" }, h("b", {}, "The simulation stopped"), h("div", {}, failed.message), failed.hint ? h("div", { class: "faint" }, failed.hint) : null),
      failed.body ? button({ text: `Show the ${failed.what ?? "place"}`, hint: "Look at the element where it went wrong", id: "show-element", kind: "small", click: () => showElement(app, failed) }) : null,
      button({ text: "Reset", hint: "Back to the start (R)", kind: "small", click: () => resetRun(app) }),
      button({ icon: "remove", hint: "Close", kind: "ghost small", click: () => app.store.set({ failed: null }) }),
    );
  });
  return banner;
}

/** Selects the particles of the element and looks at them. */
export function showElement(app: App, failed: Failure): void {
  const body = failed.body ? app.viewer.body(failed.body) : undefined;
  if (!body || failed.number === undefined) return;
  const ids = failed.what === "tet" ? Array.from(body.tets.subarray(4 * failed.number, 4 * failed.number + 4)) : [failed.number];
  app.store.set({ selection: { body: body.name, ids: new Set(ids) } });
  app.viewer.mark(failed.what === "tet" ? { body: body.name, ids } : null);
  app.viewer.frame();
}
