/** Values over time as scenes write them: a constant, or keys. */

import { si } from "./numbers";
import type { Json, Vec3 } from "./protocol";

export interface Key {
  time: number;
  value: Json;
}

/** The keys of a scene value; none for a constant. */
export function keysOf(value: Json | undefined): Key[] {
  if (value && typeof value === "object" && !Array.isArray(value) && Array.isArray(value["keys"]))
    return (value["keys"] as unknown as Key[]).map((key) => ({ time: Number(key.time), value: key.value }));
  return [];
}

/** Key or replace the value at `time`; a constant becomes its first key. */
export function withKey(value: Json | undefined, time: number, at: Json): Json {
  const near = 1e-6;
  const keys = keysOf(value);
  const kept = keys.filter((key) => Math.abs(key.time - time) > near);
  const all = [...kept, { time, value: at }].sort((a, b) => a.time - b.time);
  const ease = keys.length ? (value as { [key: string]: Json })["ease"] : undefined;
  return { keys: all as unknown as Json, ...(ease ? { ease } : {}) };
}

/** Without the key at `time`; the last one left becomes a constant again. */
export function withoutKey(value: Json, time: number): Json {
  const kept = keysOf(value).filter((key) => Math.abs(key.time - time) > 1e-6);
  if (kept.length <= 1) return kept[0]?.value ?? keysOf(value)[0]?.value ?? 0;
  return { ...(value as { [key: string]: Json }), keys: kept as unknown as Json };
}

/** With the key at `from` at the time `to` instead; a key that stands there gives way. */
export function movedKey(value: Json, from: number, to: number): Json {
  const key = keysOf(value).find((each) => Math.abs(each.time - from) < 1e-6);
  if (!key) return value;
  const others = keysOf(value).filter((each) => each !== key && Math.abs(each.time - from) > 1e-6 && Math.abs(each.time - to) > 1e-6);
  const all = [...others, { time: to, value: key.value }].sort((a, b) => a.time - b.time);
  return { ...(value as { [key: string]: Json }), keys: all as unknown as Json };
}

/** A value over time, between its keys; values with units hold until the next key. */
export function valueAt(value: Json, time: number): Json {
  const keys = keysOf(value);
  if (!keys.length) return value;
  if (time <= keys[0]!.time) return keys[0]!.value;
  const after = keys.findIndex((key) => key.time > time);
  if (after < 0) return keys[keys.length - 1]!.value;
  const [a, b] = [keys[after - 1]!, keys[after]!];
  let s = (time - a.time) / (b.time - a.time);
  if ((value as { [key: string]: Json })["ease"] === "smooth") s = s * s * (3 - 2 * s);
  const mix = (from: Json, to: Json): Json => {
    if (Array.isArray(from) && Array.isArray(to)) return from.map((part, c) => mix(part, to[c]!));
    return typeof from === "number" && typeof to === "number" ? from + s * (to - from) : from;
  };
  return mix(a.value, b.value);
}

/** A point over time. */
export function pointAt(value: Json | undefined, time: number): Vec3 {
  const now = valueAt(value ?? [0, 0, 0], time);
  return Array.isArray(now) ? (now.map((part) => si(part, 0)) as Vec3) : [0, 0, 0];
}
