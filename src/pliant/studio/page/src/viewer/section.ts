/** The tets that a section plane cuts: pure functions, tested without a screen. */

import { NONE } from "./geometry";

/** Keeps the side where `normal · x + constant >= 0`. */
export interface SectionPlane {
  normal: readonly [number, number, number];
  constant: number;
}

export interface Section {
  points: Float32Array; // corners of triangles
  values: Float32Array; // one for each corner
  tet: Uint32Array; // the tet of each corner
  lines: Float32Array; // outlines of the cut tets
}

/** Where the plane cuts tets: a triangle or a quadrilateral each, with values between those of the corners. */
export function crossSection(x: Float32Array, tets: Uint32Array, plane: SectionPlane, values: Float32Array | null): Section {
  const points: number[] = [];
  const shown: number[] = [];
  const owner: number[] = [];
  const lines: number[] = [];
  const far = distances(x, plane);
  const at = (a: number, b: number): number[] => {
    const s = far[a]! / (far[a]! - far[b]!);
    const place = [0, 1, 2].map((c) => x[3 * a + c]! + s * (x[3 * b + c]! - x[3 * a + c]!));
    return [...place, values ? values[a]! + s * (values[b]! - values[a]!) : NONE];
  };
  for (let t = 0; t < tets.length / 4; t++) {
    const front: number[] = [];
    const back: number[] = [];
    for (let k = 0; k < 4; k++) (far[tets[4 * t + k]!]! >= 0 ? front : back).push(tets[4 * t + k]!);
    if (!front.length || !back.length) continue;
    const ring =
      front.length === 2
        ? [at(front[0]!, back[0]!), at(front[0]!, back[1]!), at(front[1]!, back[1]!), at(front[1]!, back[0]!)]
        : front.length === 1
          ? back.map((b) => at(front[0]!, b))
          : front.map((a) => at(a, back[0]!));
    for (let k = 1; k + 1 < ring.length; k++)
      for (const corner of [ring[0]!, ring[k]!, ring[k + 1]!]) {
        points.push(corner[0]!, corner[1]!, corner[2]!);
        shown.push(corner[3]!);
        owner.push(t);
      }
    ring.forEach((corner, k) => {
      const next = ring[(k + 1) % ring.length]!;
      lines.push(corner[0]!, corner[1]!, corner[2]!, next[0]!, next[1]!, next[2]!);
    });
  }
  return { points: new Float32Array(points), values: new Float32Array(shown), tet: new Uint32Array(owner), lines: new Float32Array(lines) };
}

/** Signed distances of points from the plane; positive on the side that is kept. */
export function distances(x: Float32Array, { normal, constant }: SectionPlane): Float64Array {
  const out = new Float64Array(x.length / 3);
  for (let i = 0; i < out.length; i++) out[i] = normal[0] * x[3 * i]! + normal[1] * x[3 * i + 1]! + normal[2] * x[3 * i + 2]! + constant;
  return out;
}

/** Leaves out, among `count` corners for each tet in `out`, those of tets whose centre lies beyond the plane. */
export function hideBeyond(out: Float32Array, count: number, plane: SectionPlane): void {
  const size = 3 * count;
  for (let start = 0; start < out.length; start += size) {
    const centre = [0, 0, 0];
    for (let k = 0; k < size; k++) centre[k % 3]! += out[start + k]! / count;
    const far = plane.normal[0] * centre[0]! + plane.normal[1] * centre[1]! + plane.normal[2] * centre[2]! + plane.constant;
    if (far < 0) for (let k = 0; k < size; k++) out[start + k] = centre[k % 3]!;
  }
}
