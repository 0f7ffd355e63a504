/** Values over time as scenes write them: a constant, or keys. */

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

/** A point over time. */
export function pointAt(value: Json | undefined, time: number): Vec3 {
  const keys = keysOf(value);
  if (!keys.length) return Array.isArray(value) ? (value.map(Number) as Vec3) : [0, 0, 0];
  const points = keys.map((key) => (key.value as number[]).map(Number) as Vec3);
  if (time <= keys[0]!.time) return points[0]!;
  const after = keys.findIndex((key) => key.time > time);
  if (after < 0) return points[points.length - 1]!;
  const [a, b] = [points[after - 1]!, points[after]!];
  let s = (time - keys[after - 1]!.time) / (keys[after]!.time - keys[after - 1]!.time);
  if ((value as { [key: string]: Json })["ease"] === "smooth") s = s * s * (3 - 2 * s);
  return [0, 1, 2].map((c) => a[c]! + s * (b[c]! - a[c]!)) as Vec3;
}
