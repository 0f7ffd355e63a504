/** Form fields for the keys of a scene: numbers with units, vectors, choices, and keys over time. */

import { keysOf, withKey, withoutKey } from "../curve";
import { button, h } from "../dom";
import { read, short } from "../numbers";
import type { Json, KeyInfo, Table } from "../protocol";

export interface FieldContext {
  bodies: string[];
  time: number;
  keys?: boolean; // whether inputs may change with time here
  change: (key: string, value: Json | null) => void;
}

const shown = (value: unknown): string => (typeof value === "number" ? short(value) : typeof value === "string" ? value : "");

function textInput(value: unknown, label: string, change: (text: string) => void): HTMLInputElement {
  const input = h("input", { type: "text", value: shown(value), "aria-label": label, spellcheck: "false", autocomplete: "off" });
  input.setAttribute("value", shown(value));
  input.addEventListener("change", () => change(input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") input.blur();
  });
  return input;
}

function vectorInput(value: Json | undefined, length: number, label: string, change: (value: Json) => void): HTMLElement {
  const parts = Array.isArray(value) ? [...value] : Array<Json>(length).fill(0);
  const inputs = parts.map((part, c) =>
    textInput(part, `${label} ${"xyz"[c] ?? c}`, (text) => {
      parts[c] = read(text) ?? 0;
      change(parts);
    }),
  );
  return h("div", { class: "vector" }, ...inputs);
}

/** A labelled field for one key of `table`. */
export function field(info: KeyInfo, table: Table, context: FieldContext): HTMLElement | null {
  const value = table[info.name];
  const label = info.label ?? info.name.replace(/-/g, " ");
  const change = (next: Json | null): void => context.change(info.name, next);
  let control: HTMLElement;
  const keys = keysOf(value);
  if (info.kind === "number" || info.kind === "vector" || info.kind === "whole") {
    const now = keys.length ? nearestKey(keys, context.time) : (value ?? info.default ?? undefined);
    const put = (next: Json | null): void => {
      if (keys.length && next !== null) change(withKey(value, context.time, next));
      else change(next);
    };
    control = info.kind === "vector" ? vectorInput(now as Json, info.length ?? 3, label, put) : textInput(now, label, (text) => put(read(text)));
  } else if (info.kind === "choice") {
    const chosen = typeof value === "string" ? value : typeof info.default === "string" ? info.default : "";
    const choices = info.choices ?? [];
    control = choose(chosen, choices.includes(chosen) || !chosen ? choices : [chosen, ...choices], label, (next) => change(next), !chosen);
  } else if (info.kind === "flag") {
    const box = h("input", { type: "checkbox", checked: Boolean(value ?? info.default), "aria-label": label });
    box.addEventListener("change", () => change(box.checked));
    control = box;
  } else if (info.kind === "axes") {
    const now = new Set(typeof value === "string" ? [...value] : ((value as string[] | undefined) ?? []));
    control = h("div", { class: "segments" }, ...["x", "y", "z"].map((axis) => {
      const on = now.size === 0 || now.has(axis);
      return button({ text: axis, hint: `axis ${axis}`, kind: "small", pressed: on, click: () => {
        const next = ["x", "y", "z"].filter((each) => (each === axis ? !on : now.size === 0 || now.has(each)));
        change(next.length === 3 || next.length === 0 ? null : next);
      } });
    }));
  } else if (info.kind === "body") {
    control = choose(typeof value === "string" ? value : "", ["", ...context.bodies], label, (next) => change(next || null));
  } else if (info.kind === "text") {
    control = textInput(value, label, (text) => change(text.trim() || null));
  } else if (info.kind === "table") {
    if (!value || typeof value !== "object" || Array.isArray(value)) return null;
    control = h("div", {}, ...Object.entries(value).map(([key, inner]) =>
      Array.isArray(inner)
        ? vectorInput(inner, inner.length, key, (next) => change({ ...value, [key]: next }))
        : h("label", { class: "inner" }, key, textInput(inner, key, (text) => change({ ...value, [key]: read(text) ?? 0 })))));
  } else return null;
  const numeric = info.kind === "number" || info.kind === "vector";
  const keyed = info.keyed ? keyButton(info, value, keys.length > 0, context, change) : numeric && context.keys ? unkeyed() : null;
  return h("div", { class: info.kind === "vector" ? "field tall" : "field", title: info.about ?? null }, h("label", {}, label, info.unit ? h("span", { class: "unit" }, info.unit) : null), h("div", { class: "control" }, control, keyed));
}

/** A faint diamond for inputs that have one value for all times. */
function unkeyed(): HTMLElement {
  return button({ icon: "key", hint: "This input has one value for all times: it cannot be keyed", kind: "ghost small key", disabled: true, click: () => undefined });
}

/** A label, with the unit as its last word, and a control. */
export function row(label: string, control: HTMLElement, hint = ""): HTMLElement {
  const [, words, unit] = /^(.*?)(?: (m|s))?$/.exec(label)!;
  return h("div", { class: "field", title: hint }, h("label", {}, words!, unit ? h("span", { class: "unit" }, unit) : null), h("div", { class: "control" }, control));
}

function keyButton(info: KeyInfo, value: Json | undefined, keyed: boolean, context: FieldContext, change: (value: Json | null) => void): HTMLElement {
  const isHere = (): boolean => keysOf(value).some((key) => Math.abs(key.time - context.time) < 1e-6);
  const here = isHere();
  return button({
    icon: "key",
    hint: here ? `Remove the key at ${short(context.time)} s` : `Set a key at ${short(context.time)} s`,
    kind: `ghost small key ${keyed ? "keyed" : ""} ${here ? "here" : ""}`,
    click: () => {
      if (isHere()) change(withoutKey(value!, context.time));
      else change(withKey(value, context.time, keyed ? nearestKey(keysOf(value), context.time) : (value ?? info.default ?? 0)));
    },
  });
}

function nearestKey(keys: { time: number; value: Json }[], time: number): Json {
  return keys.reduce((a, b) => (Math.abs(b.time - time) < Math.abs(a.time - time) ? b : a)).value;
}

/** A drop-down list. */
export function choose(value: string, choices: string[], label: string, change: (value: string) => void, blank = false): HTMLSelectElement {
  const select = h("select", { "aria-label": label }, blank ? h("option", { value: "" }, "–") : null, ...choices.map((name) => h("option", { value: name, selected: name === value }, name || "all bodies")));
  select.value = value;
  select.addEventListener("change", () => change(select.value));
  return select;
}
