/** The knife: a line drawn over bodies becomes a plane through the eye that cuts them. */

import * as THREE from "three";
import type { Table } from "../protocol";
import type { Picking } from "./picking";
import type { Viewer } from "./viewer";

interface Place {
  x: number;
  y: number;
}

const SHORTEST = 12; // pixels

export class Knife {
  private readonly line: HTMLElement;

  constructor(
    private readonly picking: Picking,
    private readonly viewer: Viewer,
    host: HTMLElement,
    private readonly add: (table: Table) => void,
  ) {
    this.line = document.createElement("div");
    this.line.className = "knife";
    host.append(this.line);
    this.put();
  }

  /** Draws the line while the pointer moves. */
  stretch(from: Place, to: Place): void {
    const area = this.viewer.stage.host.getBoundingClientRect();
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    Object.assign(this.line.style, { display: "block", left: `${from.x - area.left}px`, top: `${from.y - area.top}px`, width: `${Math.hypot(to.x - from.x, to.y - from.y)}px`, transform: `rotate(${angle}rad)` });
  }

  put(): void {
    this.line.style.display = "none";
  }

  /** Cuts the bodies that the line crosses. */
  cut(from: Place, to: Place): void {
    if (Math.hypot(to.x - from.x, to.y - from.y) < SHORTEST) return;
    const eye = this.viewer.stage.camera.position;
    const [a, b] = [from, to].map((place) => this.picking.aim(place.x, place.y).direction.clone());
    const normal = a!.cross(b!).normalize();
    const round = (vector: THREE.Vector3): number[] => vector.toArray().map((part) => Number(part.toPrecision(9)));
    for (const name of this.crossed(from, to)) this.add({ type: "cut", body: name, plane: { point: round(eye), normal: round(normal) } });
  }

  /** Names of the bodies under the line. */
  private crossed(from: Place, to: Place): Set<string> {
    const names = new Set<string>();
    const steps = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 6);
    for (let k = 0; k <= steps; k++) {
      const hit = this.picking.hit(from.x + ((to.x - from.x) * k) / steps, from.y + ((to.y - from.y) * k) / steps);
      if (hit) names.add(hit.body.name);
    }
    return names;
  }
}
