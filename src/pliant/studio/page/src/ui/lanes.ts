/** Keys of the open action on the timeline: a lane for each input that changes with time. */

import type { App } from "../app";
import { keysOf, movedKey, valueAt, withKey, withoutKey } from "../curve";
import { button, fill, h } from "../dom";
import { read, short, si } from "../numbers";
import type { Json, KeyInfo, Table } from "../protocol";
import { flatAction, putAction } from "./actions";
import { choose } from "./fields";
import { axisFrames } from "./timeline";

export function lanes(app: App): HTMLElement {
  const panel = h("section", { class: "lanes", id: "lanes", "aria-label": "keys over time" });
  let dragging = false;
  let drawnFor = 0; // the length of the axis
  const draw = (): void => {
    const { activeAction, table, catalogue } = app.store.state;
    const action = activeAction === null ? undefined : table.actions[activeAction];
    const info = action && catalogue?.actions[String(action["type"])];
    const keyable = (info?.keys ?? []).filter((key) => key.keyed);
    panel.hidden = !action || !keyable.length;
    document.body.classList.toggle("with-lanes", !panel.hidden);
    if (!action || panel.hidden) return;
    drawnFor = duration(app);
    const flat = flatAction(app, action);
    const keyed = keyable.filter((key) => keysOf(flat[key.name]).length);
    const more = keyable.filter((key) => !keysOf(flat[key.name]).length);
    const add = choose("", more.map((key) => key.name), "Key another input", (name) => {
      const key = more.find((each) => each.name === name)!;
      putAction(app, activeAction!, name, withKey(flat[name], 0, flat[name] ?? key.default ?? (key.kind === "vector" ? [0, 0, 0] : 0)));
    }, true);
    add.options[0]!.text = "+ key an input";
    add.classList.add("adder");
    add.id = "add-lane";
    fill(
      panel,
      h("header", {}, h("b", {}, String(action["name"] ?? action["type"])), more.length ? add : null, keyed.length ? editor(app, keyed, flat) : h("span", { class: "faint" }, "No keys yet: choose an input, then click on its lane to set keys.")),
      ...keyed.map((key) => lane(app, key, flat[key.name]!, (on) => (dragging = on))),
    );
  };
  app.store.on(["table", "activeAction", "catalogue", "activeKey"], () => !dragging && draw());
  app.store.on(["frame"], ({ frame }) => {
    if (duration(app) !== drawnFor && !dragging && !panel.hidden) draw();
    for (const cursor of panel.querySelectorAll<HTMLElement>(".cursor")) cursor.style.left = `${100 * Math.min((frame?.time ?? 0) / duration(app), 1)}%`;
  });
  return panel;
}

/** Seconds of the time axis, the same as the scrubber's. */
const duration = (app: App): number => axisFrames(app.store.state) / si((app.store.state.table.time as Table | undefined)?.["fps"], 50);

function lane(app: App, key: KeyInfo, value: Json, drag: (on: boolean) => void): HTMLElement {
  const { activeAction, activeKey, table } = app.store.state;
  const length = duration(app);
  const fps = si((table.time as Table | undefined)?.["fps"], 50);
  const snapped = (time: number): number => Number(Math.min(Math.max(Math.round(time * fps) / fps, 0), length).toFixed(6));
  const put = (next: Json): void => putAction(app, activeAction!, key.name, next);
  const track = h("div", { class: "lane-track", title: "Click to set a key here" });
  const timeAt = (x: number): number => {
    const area = track.getBoundingClientRect();
    return snapped(((x - area.left) / area.width) * length);
  };
  track.addEventListener("click", (event) => {
    if (event.target !== track) return;
    const time = timeAt(event.clientX);
    app.store.set({ activeKey: { name: key.name, time } });
    put(withKey(value, time, valueAt(value, time)));
  });
  const diamonds = keysOf(value).map(({ time }) => {
    const chosen = activeKey?.name === key.name && Math.abs(activeKey.time - time) < 1e-6;
    const mark = h("button", { class: `mark ${chosen ? "chosen" : ""}`, type: "button", title: `key at ${short(time)} s`, "aria-label": `${key.name}: key at ${short(time)} s` });
    mark.style.left = `${(100 * time) / length}%`;
    const move = (to: number): void => {
      if (Math.abs(to - time) < 1e-9) return;
      app.store.set({ activeKey: { name: key.name, time: to } });
      put(movedKey(value, time, to));
    };
    mark.addEventListener("click", () => app.store.set({ activeKey: { name: key.name, time } }));
    mark.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Delete" || event.key === "Backspace") put(withoutKey(value, time));
      else if (step) move(snapped(time + step / fps));
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    mark.addEventListener("pointerdown", (event) => {
      mark.setPointerCapture(event.pointerId);
      drag(true);
      mark.onpointermove = (moved) => (mark.style.left = `${(100 * timeAt(moved.clientX)) / length}%`);
      mark.onpointerup = (ended) => {
        mark.onpointermove = mark.onpointerup = null;
        drag(false);
        move(Math.abs(ended.clientX - event.clientX) > 3 ? timeAt(ended.clientX) : time);
      };
    });
    return mark;
  });
  const cursor = h("div", { class: "cursor" });
  cursor.style.left = `${100 * Math.min((app.store.state.frame?.time ?? 0) / length, 1)}%`;
  fill(track, cursor, ...diamonds);
  return h("div", { class: "lane" }, h("span", { class: "faint" }, key.name.replace(/-/g, " ")), track);
}

/** Time and value of the chosen key, how to go between keys, and its removal. */
function editor(app: App, keyed: KeyInfo[], flat: Table): HTMLElement | null {
  const { activeKey, activeAction } = app.store.state;
  const info = keyed.find((key) => key.name === activeKey?.name);
  const value = info && flat[info.name];
  const key = keysOf(value).find((each) => Math.abs(each.time - (activeKey?.time ?? NaN)) < 1e-6);
  if (!info || value === undefined || !key) return h("span", { class: "faint" }, "Click on a lane to set a key, drag a diamond to move it.");
  const put = (next: Json): void => putAction(app, activeAction!, info.name, next);
  const input = (label: string, now: Json, done: (next: number | string) => void): HTMLElement => {
    const box = h("input", { type: "text", class: "short", "aria-label": label });
    box.value = typeof now === "number" ? short(now) : String(now);
    box.addEventListener("change", () => { const next = read(box.value); if (next !== null) done(next); });
    return box;
  };
  const time = input("key time", key.time, (next) => {
    const to = si(next);
    if (!Number.isFinite(to) || to < 0) return;
    app.store.set({ activeKey: { name: info.name, time: to } });
    put(movedKey(value, key.time, to));
  });
  const parts = Array.isArray(key.value) ? key.value : [key.value];
  const values = parts.map((part, c) => input(`key value${parts.length > 1 ? ` ${"xyz"[c]}` : ""}`, part, (next) => put(withKey(value, key.time, Array.isArray(key.value) ? parts.map((each, k) => (k === c ? next : each)) : next))));
  const smooth = (value as Table)["ease"] === "smooth";
  return h("span", { class: "key-editor" }, h("label", {}, "at", time, "s"), h("label", {}, "value", ...values, info.unit),
    button({ text: "smooth", hint: "Go smoothly between keys", kind: "small", pressed: smooth, click: () => put({ ...(value as Table), ease: smooth ? "linear" : "smooth" }) }),
    button({ icon: "remove", hint: "Remove this key", kind: "small", id: "remove-key", click: () => put(withoutKey(value, key.time)) }));
}
