/** What to do first: shown in the middle while there is nothing to see. */

import type { App } from "../app";
import { button, fill, h } from "../dom";
import { openDialog } from "./open";
import { buildNow } from "./topbar";

export function emptyState(app: App): HTMLElement {
  const card = h("div", { class: "empty", id: "empty" });
  app.store.on(["scene", "table", "progress", "connected", "status"], ({ scene, table, progress, connected, status }) => {
    card.hidden = scene !== null || progress !== null || !connected || status.replay;
    if (card.hidden) return;
    if (table.bodies.length)
      fill(card, h("b", {}, "Ready to build"), h("p", { class: "faint" }, "Build turns the bodies into particles. Then run, grab and cut them."), button({ icon: "body", text: "Build", hint: "Make particles of the bodies (B)", kind: "primary", click: () => buildNow(app) }));
    else
      fill(
        card,
        h("b", {}, "Start here"),
        h("p", { class: "faint" }, "Take an example, drop a mesh file anywhere in the window, or add a shape on the left."),
        h("div", { class: "deeds" },
          button({ icon: "play", text: "A gummy bear", hint: "Open the first example", kind: "primary", click: () => app.say({ do: "open", kind: "example", name: "hello" }) }),
          button({ icon: "open", text: "More", hint: "Open an example, a scene, a run or a mesh (O)", click: () => openDialog(app) })),
      );
  });
  return card;
}
