/** Colour maps as small textures, and materials that colour raw values in the shader. */

import * as THREE from "three";

export const MAPS: Record<string, [number, number, number][]> = {
  viridis: [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37]],
  inferno: [[0, 0, 4], [40, 11, 84], [101, 21, 110], [159, 42, 99], [212, 72, 66], [245, 125, 21], [250, 193, 39], [252, 255, 164]],
  "blue-green-red": [[0, 0, 255], [0, 255, 0], [255, 0, 0]],
  coolwarm: [[59, 76, 192], [124, 159, 249], [192, 212, 245], [221, 221, 221], [245, 196, 173], [238, 132, 104], [180, 4, 38]],
};

/** Colours of levels of detail, coarse to fine; each keeps its own. */
export const LEVELS: [number, number, number][] = [[154, 165, 177], [74, 127, 181], [42, 157, 143], [233, 180, 76], [231, 111, 81], [155, 34, 38]];
export const LEVEL_RANGE: [number, number] = [-0.5, LEVELS.length - 0.5];

/** The map that a look asks for: levels have colours of their own. */
export const mapOf = (look: { map: string; colour: string | null }): string => (look.colour === "level" ? "levels" : look.map);

/** The colour of `map` at s (0 to 1), components 0 to 255. */
export function sample(map: string, s: number): [number, number, number] {
  if (map === "levels") return LEVELS[Math.min(Math.floor(Math.min(Math.max(s, 0), 1) * LEVELS.length), LEVELS.length - 1)]!;
  const stops = MAPS[map] ?? MAPS["viridis"]!;
  const place = Math.min(Math.max(s, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  const f = place - k;
  return [0, 1, 2].map((c) => Math.round(stops[k]![c]! + f * (stops[k + 1]![c]! - stops[k]![c]!))) as [number, number, number];
}

/** CSS for a colour bar. */
export function gradient(map: string): string {
  const stops = MAPS[map] ?? MAPS["viridis"]!;
  return `linear-gradient(to top, ${stops.map((c) => `rgb(${c.join(",")})`).join(", ")})`;
}

export function lut(map: string): THREE.DataTexture {
  const data = new Uint8Array(256 * 4);
  for (let k = 0; k < 256; k++) data.set([...sample(map, k / 255), 255], 4 * k);
  const texture = new THREE.DataTexture(data, 256, 1);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.minFilter = texture.magFilter = THREE.LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/** What all materials of the stage share. */
export class Colouring {
  readonly uniforms = {
    uLut: { value: lut("viridis") },
    uRange: { value: new THREE.Vector2(0, 1) },
    uOn: { value: 0 },
    uInside: { value: new THREE.Color(0x9aa3ad) },
  };

  map(name: string): void {
    this.uniforms.uLut.value.dispose();
    this.uniforms.uLut.value = lut(name);
  }

  /** Lets `material` colour by the attribute `aValue`, and show the inside of cut bodies flat. */
  teach<T extends THREE.Material>(material: T, lit: boolean): T {
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace("#include <common>", "#include <common>\nattribute float aValue;\nvarying float vValue;")
        .replace("#include <begin_vertex>", "#include <begin_vertex>\nvValue = aValue;");
      const inside = lit ? "if (!gl_FrontFacing && uOn < 0.5) diffuseColor.rgb = uInside;" : "";
      shader.fragmentShader = shader.fragmentShader
        .replace(
          "#include <common>",
          "#include <common>\nvarying float vValue;\nuniform sampler2D uLut;\nuniform vec2 uRange;\nuniform float uOn;\nuniform vec3 uInside;",
        )
        .replace(
          "#include <color_fragment>",
          `#include <color_fragment>
          if (uOn > 0.5 && !(vValue > 1e36)) {
            float s = clamp((vValue - uRange.x) / max(uRange.y - uRange.x, 1e-30), 0.0, 1.0);
            diffuseColor.rgb = vValue == vValue ? texture2D(uLut, vec2(0.002 + 0.996 * s, 0.5)).rgb : vec3(0.5);
          }
          ${inside}`,
        );
    };
    return material;
  }
}
