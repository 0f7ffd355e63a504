/** Time: duration, frames a second, step and integrator. */

import { type App, edit } from "../app";
import { fill, h } from "../dom";
import { quantity, short } from "../numbers";
import type { Json, Pace, Table } from "../protocol";
import { paceWords } from "./bodies";
import { choose, field, row } from "./fields";

export function timePanel(app: App): HTMLElement {
  const panel = h("section", { class: "panel", id: "time" });
  app.store.on(["table", "catalogue", "scene", "openEnd", "pace"], (state) => {
    if (!state.catalogue) return;
    const time = (state.table.time ?? {}) as Table;
    const change = (key: string, value: Json | null): void => edit(app, ["time", key], value);
    const context = { bodies: [], time: 0, change };
    const integrator = time["integrator"];
    const kind = typeof integrator === "string" ? integrator : String((integrator as Table | undefined)?.["type"] ?? "auto");
    const endless = h("input", { type: "checkbox", checked: state.openEnd, id: "open-end", onchange: () => app.store.set({ openEnd: endless.checked }) });
    fill(
      panel,
      h("h2", {}, "Time"),
      field({ name: "duration", kind: "number", unit: "s", default: 1, keyed: false, about: "How long the scene is" }, time, context),
      field({ name: "fps", label: "frame rate", kind: "number", unit: "1/s", default: 50, keyed: false, about: "Frames that are recorded in a second of the scene" }, time, context),
      field({ name: "step", kind: "number", unit: "s", default: "auto", keyed: false, about: "Seconds between two states; auto: the longest that is stable, with a margin" }, time, context),
      row("integrator", choose(kind, Object.keys(state.catalogue.integrators), "integrator", (name) => change("integrator", name)), state.catalogue.integrators[kind]?.about),
      h("label", { class: "check", title: "Whether the simulation goes on when its duration is over; takes effect with the next build or reset" }, endless, "go on after the end"),
      state.scene ? h("p", { class: "faint", title: state.scene.reason }, `step ${quantity(state.scene.step, "s")}, ${state.scene.per_frame} a frame`) : null,
      state.pace ? h("p", { class: "faint", id: "pace-estimate", title: paceHint(state.pace) }, `Run: ${paceWords(state.pace.ratio)}`) : null,
    );
  });
  return panel;
}

/** What the pace follows from. */
export function paceHint(pace: Pace): string {
  const rest = pace.uncounted.length ? ` The rest may be slower: ${pace.uncounted.join(", ")}.` : "";
  return `Measured over the first ${short(pace.covered)} s of the scene.${rest}`;
}
