// The scripts of a picture inside another page are packed: three.js alone is two thirds of a megabyte.
(async (root) => {
  try {
    const packed = Uint8Array.from(atob(root.querySelector('[data-msp="code"]').textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    root.append(script);
  } catch (error) {
    const failed = root.querySelector('[data-msp="failed"]');
    failed.hidden = false;
    failed.textContent = "The moving picture needs a browser of 2023 or later (DecompressionStream).";
    throw error;
  }
})(document.currentScript.closest(".ms-picture"));
