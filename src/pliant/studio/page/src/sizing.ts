/** Sizes of new actions: large enough that the body moves visibly, small enough that it is not torn. */

import { si } from "./numbers";
import type { BodyInfo, MaterialInfo, Table, Vec3 } from "./protocol";

const BENT = 0.15; // deflection over length, or strain
const GRAVITY = 9.81;

/** Young's modulus [Pa] of a body's table: its own, or its preset's. */
export function youngOfBody(body: Table | undefined, materials: Record<string, MaterialInfo>, fallback: string): number {
  const material = body?.["material"];
  const table: Table = typeof material === "object" && material !== null && !Array.isArray(material) ? material : {};
  const preset = typeof material === "string" ? material : typeof table["preset"] === "string" ? table["preset"] : fallback;
  const young = si(table["young"]);
  return Number.isFinite(young) ? young : (materials[preset]?.values["young"] ?? 1e5);
}

/**
 * A force [N] along an axis: twice the weight of a body that nothing holds; else what bends a cantilever of its extents by
 * 15 % of its length, F = 3 E I d / l³, or compresses it by as much, whichever is less, times the share of the box of its
 * extents that it fills: legs and horns are thinner than that box.
 */
export function visibleForce(body: Pick<BodyInfo, "low" | "high" | "mass" | "volume">, young: number, axis: number, held: boolean): number {
  if (!held) return round(2 * body.mass * GRAVITY);
  const extent = body.high.map((high, c) => Math.max(high - body.low[c]!, 1e-9)) as Vec3;
  const [length, width] = [0, 1, 2].filter((c) => c !== axis).map((c) => extent[c]!).sort((a, b) => b - a) as [number, number];
  const height = extent[axis]!;
  const bend = (3 * young * ((width * height ** 3) / 12) * BENT) / length ** 2;
  const squeeze = BENT * young * length * width;
  const filled = Math.min(1, Math.max(0.05, body.volume / (extent[0] * extent[1] * extent[2])));
  return round(Math.min(bend, squeeze) * filled);
}

const round = (value: number): number => Number(value.toPrecision(2));

/** Keys of a new action on a body, by its type; nothing for those that need none. */
export function sizedKeys(type: string, body: BodyInfo | undefined, young: number, axis: number, held: boolean): Table {
  if (!body) return {};
  const size = Math.max(...body.high.map((high, c) => high - body.low[c]!));
  const along = (value: number): Vec3 => [0, 1, 2].map((c) => (c === axis ? round(value) : 0)) as Vec3;
  const force = visibleForce(body, young, axis, held);
  switch (type) {
    case "force": return { value: along(force) };
    case "moment": return { value: round((force * size) / 2) };
    case "impulse": return { value: along(2 * body.mass * Math.max(size, 0.1)) };
    case "move": return { velocity: along(0.5 * size) };
    case "sine": return { amplitude: round(0.1 * size), frequency: 2 };
    case "pressure": return { value: round(0.1 * young) };
    case "pull": return { stiffness: round(force / (0.3 * size)) };
    default: return {};
  }
}
