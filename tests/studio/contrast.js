// Contrast of every text of the chosen elements with what lies behind it (WCAG 2, 1.4.3), the worst first.
(chosen) => {
  chosen ??= '#app *, dialog *';
  const known = new Map(), c = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (text) => { if (!known.has(text)) { c.clearRect(0, 0, 1, 1); c.fillStyle = text; c.fillRect(0, 0, 1, 1);
    const d = c.getImageData(0, 0, 1, 1).data; known.set(text, [d[0], d[1], d[2], d[3] / 255]); }
    return [...known.get(text)]; };
  const over = (a, b) => [0, 1, 2].map((k) => a[k] * a[3] + b[k] * (1 - a[3]));
  const lum = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const found = [];
  for (const element of document.querySelectorAll(chosen)) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (!own || !box.width || style.visibility === 'hidden' || element.closest(':disabled, [hidden], svg')) continue;
    let back = [255, 255, 255], chain = [], faint = 1;
    for (let e = element; e; e = e.parentElement) { chain.unshift(rgb(getComputedStyle(e).backgroundColor));
      faint *= Number(getComputedStyle(e).opacity); }
    for (const colour of chain) back = over(colour, back);
    const ink = rgb(style.color); ink[3] *= faint;
    const [a, b] = [lum(over(ink, back)), lum(back)].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), element.textContent.trim().slice(0, 30), element.className]);
  }
  return found.sort((x, y) => x[0] - y[0]);
}
