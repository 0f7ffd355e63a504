/** One dual cell, or one of its faces, in a strong colour while the others fade. */

import * as THREE from "three";
import type { Cells } from "./geometry";

export interface Chosen {
  kind: "cell" | "face";
  id: number; // a particle, or the edge that a face crosses
}

/** The triangles of a cell or a face, as numbers of the triangles that `dualCells` makes. */
export function chosenTriangles(cells: Cells, chosen: Chosen): number[] {
  const found: number[] = [];
  for (let t = 0; t < cells.face.length; t++)
    for (let side = 0; side < 2; side++) {
      const face = cells.face[t]!;
      const own = chosen.kind === "face" ? face === chosen.id : cells.edges[2 * face + side] === chosen.id;
      if (own) found.push(2 * t + side);
    }
  return found;
}

export class Highlight {
  readonly mesh: THREE.Mesh;

  constructor() {
    const material = new THREE.MeshStandardMaterial({ color: 0xffb300, flatShading: true, roughness: 0.6, side: THREE.DoubleSide });
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), material);
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
  }

  /** Shows `chosen` of the cells whose corners are `corners`, 9 numbers a triangle. */
  update(cells: Cells, corners: Float32Array, chosen: Chosen | null): void {
    this.mesh.visible = chosen !== null;
    if (!chosen) return;
    const triangles = chosenTriangles(cells, chosen);
    const points = new Float32Array(9 * triangles.length);
    triangles.forEach((t, k) => points.set(corners.subarray(9 * t, 9 * t + 9), 9 * k));
    this.mesh.geometry.dispose();
    this.mesh.geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as THREE.Material).dispose();
  }
}
