/** Pictures of what is on screen, and downloads. */

import type { App } from "./app";

export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const stem = (app: App): string => (app.store.state.table.title || "pliant").replace(/[^A-Za-z0-9]+/g, "-").slice(0, 40);

/** Saves a PNG. */
export async function screenshot(app: App): Promise<void> {
  app.viewer.stage.render();
  const canvas = app.viewer.stage.renderer.domElement;
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob) download(blob, `${stem(app)}-${app.store.state.frame?.frame ?? 0}.png`);
}
