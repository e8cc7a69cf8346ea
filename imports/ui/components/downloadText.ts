/** Saves a text as a file. */
export function downloadText(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The download has read the address by the next task.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}
