/** Time: duration, frames a second, step and integrator. */

import { type App, edit } from "../app";
import { fill, h } from "../dom";
import { quantity } from "../numbers";
import type { Json, Table } from "../protocol";
import { choose, field } from "./fields";

export function timePanel(app: App): HTMLElement {
  const panel = h("section", { class: "panel", id: "time" });
  app.store.on(["table", "catalogue", "scene", "openEnd"], (state) => {
    if (!state.catalogue) return;
    const time = (state.table.time ?? {}) as Table;
    const change = (key: string, value: Json | null): void => edit(app, ["time", key], value);
    const context = { bodies: [], time: 0, change };
    const integrator = time["integrator"];
    const kind = typeof integrator === "string" ? integrator : String((integrator as Table | undefined)?.["type"] ?? "leapfrog");
    const endless = h("input", { type: "checkbox", checked: state.openEnd, id: "open-end", onchange: () => app.store.set({ openEnd: endless.checked }) });
    fill(
      panel,
      h("h2", {}, "Time"),
      field({ name: "duration", kind: "number", unit: "s", default: 1, keyed: false }, time, context),
      field({ name: "fps", kind: "number", unit: "1/s", default: 50, keyed: false }, time, context),
      field({ name: "step", kind: "number", unit: "s", default: "auto", keyed: false }, time, context),
      h("div", { class: "field" }, h("label", {}, "integrator"), h("div", { class: "control" }, choose(kind, Object.keys(state.catalogue.integrators), "integrator", (name) => change("integrator", name)))),
      h("label", { class: "check" }, endless, "go on after the end (after a reset)"),
      state.scene ? h("p", { class: "faint", title: state.scene.reason }, `step ${quantity(state.scene.step, "s")}, ${state.scene.per_frame} a frame`) : null,
    );
  });
  return panel;
}
