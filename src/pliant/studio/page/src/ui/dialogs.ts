/** Dialogs: a title, a body, Escape closes. */

import { button, h } from "../dom";

/** Opens a dialog and gives the function that closes it. */
export function dialog(title: string, id: string, content: Node, wide = false): () => void {
  document.getElementById(id)?.remove();
  const box = h(
    "dialog",
    { class: `dialog ${wide ? "wide" : ""}`, id, "aria-label": title },
    h("header", {}, h("h2", {}, title), button({ icon: "remove", hint: "Close", kind: "ghost", click: () => box.close() })),
    content,
  );
  box.addEventListener("close", () => box.remove());
  box.addEventListener("click", (event) => {
    if (event.target === box) box.close();
  });
  document.body.append(box);
  box.showModal();
  return () => box.close();
}
