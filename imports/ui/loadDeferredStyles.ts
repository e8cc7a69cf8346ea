/** Loads the style sheets that the server's page leaves disabled before sign-in, and begins to load their font. */

let loading: Promise<unknown> | undefined;

/** @returns the same outcome as long as it has not failed. @throws Error if a style sheet cannot be loaded */
export async function loadDeferredStyles(): Promise<void> {
  loading ??= Promise.all([...document.querySelectorAll<HTMLLinkElement>('link[data-deferred]')].map(enable));
  try {
    await loading;
  } catch (error) {
    loading = undefined;
    throw error;
  }
  // Browsers would load it with the first text. Until it is there, and without it, text has the system's font.
  document.fonts.load("1em 'Inter Variable'").catch(() => undefined);
}

function enable(link: HTMLLinkElement): Promise<void> {
  return new Promise((resolve, reject) => {
    link.onload = () => resolve();
    link.onerror = () => reject(new Error('A style sheet could not be loaded.'));
    // After a failure, it is loaded again.
    link.disabled = true;
    link.disabled = false;
  });
}
