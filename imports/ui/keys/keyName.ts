/** A key as it is written on the keyboard: `mod+k` is `⌘K` on a Mac, and `Ctrl K` elsewhere. */
export function keyName(key: string): string {
  if (!key.startsWith('mod+')) return key;
  const letter = key.slice('mod+'.length).toUpperCase();
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? `⌘${letter}` : `Ctrl ${letter}`;
}
